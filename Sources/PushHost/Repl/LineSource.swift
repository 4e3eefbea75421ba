import PushCore

/// Where a session's lines come from.
protocol LineSource: Sendable {
    /// The next line; `prompt` asks a person for it.
    func next(prompt: String) async -> LineInput
    /// Leaves the terminal as it was found.
    func restore()
}

enum LineInput: Equatable {
    case line(String)
    /// Ctrl-C: the line, and what it continued, is given up.
    case interrupted
    case end
    /// A line that is no text; the next may be one.
    case unreadable(PushError)
    /// There will be no more lines.
    case broken(PushError)
}

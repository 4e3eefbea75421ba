import PushCore

/// Where a session's lines come from.
protocol LineSource: Sendable {
    /// The next line; `prompt` asks a person for it.
    func next(prompt: String) async -> LineInput
    /// Gives up the line that is being typed: `next` answers that it was interrupted. May be called on any thread.
    func interrupt()
    /// Shows the line that is being typed again: the terminal has another size, or was somebody else's meanwhile.
    func redraw()
    /// Forgets what was typed ahead.
    func discard()
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

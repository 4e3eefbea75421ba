import PushModel

enum LineInput: Equatable {
    case line(String)
    /// Ctrl-C: discard the line and the unfinished lines before it.
    case interrupted
    case end
    /// The line is not UTF-8; later lines may be.
    case unreadable(PushError)
    /// The input failed; no more lines follow.
    case broken(PushError)
}

import PushModel

/// A source of input lines of a session.
protocol LineSource: Sendable {
    /// Reads the next line; `prompt` is shown to a person at a terminal.
    func next(prompt: String) async -> LineInput
    /// Discards the line being typed: `next` returns `.interrupted`. Callable from any thread.
    func interrupt()
    /// Redraws the line being typed, for example after the terminal was resized or the process resumed.
    func redraw()
    /// Discards input that was typed ahead.
    func discard()
    /// Restores the original terminal settings.
    func restore()
}

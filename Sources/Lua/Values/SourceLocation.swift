/// A line of a script.
public struct SourceLocation: Sendable, Equatable, CustomStringConvertible {
    /// The name of the script, as given in ``LuaScript/name``.
    public var chunk: String
    /// The line, counted from 1.
    public var line: Int

    /// A line of a script.
    public init(chunk: String, line: Int) {
        self.chunk = chunk
        self.line = line
    }

    /// The usual form: `scripts/a.lua:31`.
    public var description: String { "\(chunk):\(line)" }

    /// Reads the usual form.
    init?(text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let line = Int(text[text.index(after: colon)...]) else { return nil }
        self.init(chunk: String(text[..<colon]), line: line)
    }
}

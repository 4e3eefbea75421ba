/// A line of a script.
public struct SourceLocation: Sendable, Equatable, CustomStringConvertible {
    /// The name of the script, as given in ``LuaScript/name``.
    public var chunk: String
    /// The line, counted from 1.
    public var line: Int

    /// Makes a location.
    public init(chunk: String, line: Int) {
        self.chunk = chunk
        self.line = line
    }

    /// The location as text: `scripts/a.lua:31`.
    public var description: String { "\(chunk):\(line)" }

    /// Parses `scripts/a.lua:31`; nil if the text has no line number.
    init?(text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let line = Int(text[text.index(after: colon)...]) else { return nil }
        self.init(chunk: String(text[..<colon]), line: line)
    }
}

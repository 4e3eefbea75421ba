/// Why a text is not a well-formed XML document.
package struct XMLError: Error, Sendable, Equatable, CustomStringConvertible {
    package let message: String
    /// In bytes, from 0.
    package let offset: Int
    /// From 1.
    package let line: Int
    /// From 1, in characters.
    package let column: Int

    init(_ message: String, at offset: Int, in bytes: [UInt8]) {
        let position = TextPosition(of: offset, in: bytes)
        self.message = message
        self.offset = offset
        line = position.line
        column = position.column
    }

    package var description: String { "\(message) (line \(line), column \(column))" }
}

/// An error that makes an XML document not well-formed.
package struct XMLError: Error, Sendable, Equatable, CustomStringConvertible {
    package let message: String
    /// Offset in bytes, from 0.
    package let offset: Int
    /// Counted from 1.
    package let line: Int
    /// Counted in characters, from 1.
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

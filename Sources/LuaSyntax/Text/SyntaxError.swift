/// A syntax error in a script.
package struct SyntaxError: Error, Sendable, Equatable {
    /// The problem and its cause, as one sentence without a full stop.
    package let message: String
    /// What to write instead.
    package let hint: String?
    /// The byte range of the error; empty where something is missing.
    package let range: Range<Int>

    init(_ message: String, hint: String? = nil, at range: Range<Int>) {
        self.message = message
        self.hint = hint
        self.range = range
    }

    init(_ message: String, hint: String? = nil, at offset: Int) {
        self.init(message, hint: hint, at: offset..<offset)
    }
}

/// Confidential text: a password, a key, a session token. Prints as `***`.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The text itself. Use it only where it is needed, never in a log, an error or a response.
    package func reveal() -> String { text }

    package var isEmpty: Bool { text.isEmpty }
    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why a service rejects a notification; the raw value is the service's own reason string.
package protocol RefusalReason: RawRepresentable<String>, CaseIterable, Sendable {
    /// All words that `init(word:)` accepts.
    static var words: [String] { get }

    init?(word: String)

    /// The HTTP status.
    var status: Int { get }

    /// Whether responses with this reason may have `Retry-After`.
    var allowsRetryAfter: Bool { get }
}

extension RefusalReason {
    package static var words: [String] { allCases.map(\.rawValue) }

    package init?(word: String) { self.init(rawValue: word) }

    package var allowsRetryAfter: Bool { [429, 503].contains(status) }
}

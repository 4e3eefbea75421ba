/// Why a service refuses a notification; the raw value is its word for it.
package protocol RefusalReason: RawRepresentable<String>, CaseIterable, Sendable {
    /// Every word that `init(word:)` takes.
    static var words: [String] { get }

    init?(word: String)

    /// The HTTP status.
    var status: Int { get }

    /// Whether its answers may say how long to wait, in `Retry-After`.
    var namesPause: Bool { get }
}

extension RefusalReason {
    package static var words: [String] { allCases.map(\.rawValue) }

    package init?(word: String) { self.init(rawValue: word) }

    package var namesPause: Bool { [429, 503].contains(status) }
}

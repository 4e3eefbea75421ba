/// Why a service refuses a notification; the raw value is its word for it.
package protocol RefusalReason: RawRepresentable<String>, CaseIterable, Sendable {
    /// Every word that `init(word:)` takes.
    static var words: [String] { get }

    init?(word: String)
}

extension RefusalReason {
    package static var words: [String] { allCases.map(\.rawValue) }

    package init?(word: String) { self.init(rawValue: word) }
}

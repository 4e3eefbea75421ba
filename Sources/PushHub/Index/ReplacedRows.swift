import PushModel

/// The stored rows that a change replaces. Their tags are needed to remove them from the index, and only the store has them.
struct ReplacedRows: Sendable {
    private(set) var tags: [UInt32: [Tag]] = [:]
    private(set) var installations: [UInt32: Installation] = [:]

    init(_ registrations: [RegistrationRow] = [], _ installations: [InstallationRow] = []) {
        for placed in registrations { tags[placed.row] = placed.registration.tags }
        for placed in installations { self.installations[placed.row] = placed.installation }
    }
}

/// What a change takes the place of, as the store has it: by which words it is found, only the store knows.
struct ReplacedRows: Sendable {
    private(set) var tags: [UInt32: [Tag]] = [:]
    private(set) var installations: [UInt32: Installation] = [:]

    init(_ registrations: [PlacedRegistration] = [], _ installations: [PlacedInstallation] = []) {
        for placed in registrations { tags[placed.place] = placed.registration.tags }
        for placed in installations { self.installations[placed.place] = placed.installation }
    }
}

import PushModel

/// Reads whole rows from the store, without the reserved tags that older versions accepted from clients. The index does not contain these
/// tags either.
struct StoredRows: Sendable {
    let store: any HubStore
    /// Reserved tags that stored rows contain and the index does not.
    let foreignTags: ForeignTags

    func registrations(at places: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        try await store.registrations(at: places).map { foreignTags.removed(from: $0.withoutForeignTags) }
    }

    func installations(at places: [UInt32]) async throws(PushError) -> [InstallationRow] {
        try await store.installations(at: places).map(\.withoutForeignTags)
    }
}

import PushModel

/// Reads whole rows from the store, without the reserved tags that older versions accepted from clients. The index does not contain these
/// tags either.
struct StoredRows: Sendable {
    let store: any HubStore
    /// Reserved tags that stored rows contain and the index does not.
    let foreignTags: ForeignTags

    func registrations(at rows: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        try await store.registrations(at: rows).map { foreignTags.removed(from: $0.withoutForeignTags) }
    }

    func installations(at rows: [UInt32]) async throws(PushError) -> [InstallationRow] {
        try await store.installations(at: rows).map(\.withoutForeignTags)
    }
}

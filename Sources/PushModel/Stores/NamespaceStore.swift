/// Stores a server's hubs and the authorization rules that apply to all of them.
///
/// Errors: `storage.unavailable` (503).
package protocol NamespaceStore: Sendable {
    func load() async throws(PushError) -> StoredNamespace
    /// Replaces the rules that apply to every hub.
    func putRules(_ rules: [AuthorizationRule]) async throws(PushError)
    /// Stores a new or changed hub. Throws `storage.conflict` (500) if another hub's name differs only in case.
    func putHub(_ hub: HubRecord) async throws(PushError)
    /// Deletes a hub and all its data; its number is never reused. Does nothing if it does not exist.
    func removeHub(_ number: Int64) async throws(PushError)
    /// The store for the data of one hub.
    func store(ofHub number: Int64) -> any HubStore
}

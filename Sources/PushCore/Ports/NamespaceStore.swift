/// Where the hubs of a server and the keys to all of them lie.
///
/// Errors: `storage.unavailable` (503).
package protocol NamespaceStore: Sendable {
    func load() async throws(PushError) -> StoredNamespace
    /// The rules that hold for every hub; they take the place of those before.
    func putRules(_ rules: [AuthorizationRule]) async throws(PushError)
    /// Keeps a hub, new or changed. No two have names that differ in case alone: `storage.conflict` (500).
    func putHub(_ hub: HubRecord) async throws(PushError)
    /// Forgets a hub with all that belongs to it; its number is not given out again. No error where there is none.
    func removeHub(_ number: Int64) async throws(PushError)
    /// Where the data of one hub lies.
    func store(ofHub number: Int64) -> any HubStore
}

package struct StoredNamespace: Sendable, Equatable {
    package var rules: [AuthorizationRule]
    /// In the order of their numbers.
    package var hubs: [HubRecord]
    /// The largest number that a hub ever had; 0 before the first one.
    package var lastNumber: Int64

    package init(rules: [AuthorizationRule] = [], hubs: [HubRecord] = [], lastNumber: Int64 = 0) {
        self.rules = rules
        self.hubs = hubs
        self.lastNumber = lastNumber
    }
}

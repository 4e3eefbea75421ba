/// The stored hubs of a server and the rules of its namespace.
package struct StoredNamespace: Sendable, Equatable {
    package var rules: [AuthorizationRule]
    /// In the order of their numbers.
    package var hubs: [HubRecord]
    /// The largest number that a hub ever had; 0 if there never was one.
    package var lastNumber: Int64

    package init(rules: [AuthorizationRule] = [], hubs: [HubRecord] = [], lastNumber: Int64 = 0) {
        self.rules = rules
        self.hubs = hubs
        self.lastNumber = lastNumber
    }
}

/// A change of registrations and installations. Removals are applied first, then puts, which may reuse the freed rows.
package struct RegistrationChange: Sendable, Equatable {
    package var removals: [RemovedRegistration]
    /// Rows of removed installations.
    package var installationRemovals: [UInt32]
    /// Each replaces its row's content. A removed id that occurs here is in use again.
    package var puts: [RegistrationRow]
    package var installationPuts: [InstallationRow]
    /// Pruned devices to store, for those of the removals and expired channels that can be restored.
    package var pruned: [PrunedDevice] = []
    /// Numbers of pruned devices that the puts restore.
    package var restored: [Int64] = []
    /// The time of the restoration.
    package var restoredAt: Timestamp?
    /// Handles whose held removals this change settles: it removes their devices, or their apps have registered them again.
    package var resolvedRemovals: [DeviceHandle] = []
    /// Events to store for flows.
    package var events: [HubEvent] = []

    package init(
        removals: [RemovedRegistration] = [], installationRemovals: [UInt32] = [], puts: [RegistrationRow] = [],
        installationPuts: [InstallationRow] = []
    ) {
        self.removals = removals
        self.installationRemovals = installationRemovals
        self.puts = puts
        self.installationPuts = installationPuts
    }

    package var isEmpty: Bool {
        removals.isEmpty && installationRemovals.isEmpty && puts.isEmpty && installationPuts.isEmpty
    }
}

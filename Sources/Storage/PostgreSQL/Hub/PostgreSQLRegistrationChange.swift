import PushModel

/// A change of registrations and installations in its stored form. Encoded before the transaction begins, to keep that short.
struct PostgreSQLRegistrationChange: Sendable {
    private let change: RegistrationChange
    private let hub: Int64
    private let puts: [RegistrationRow]
    private let installationPuts: [InstallationRow]
    private let installations: [String]
    private let pruned: [String]

    init(_ change: RegistrationChange, hub: Int64) {
        self.change = change
        self.hub = hub
        // A statement cannot store two rows with one number. In their order, so that two programs do not wait for each other.
        puts = Dictionary(change.puts.map { ($0.row, $0) }) { $1 }.values.sorted { $0.row < $1.row }
        installationPuts = Dictionary(change.installationPuts.map { ($0.row, $0) }) { $1 }.values.sorted { $0.row < $1.row }
        installations = installationPuts.map { $0.installation.storedJSON.text() }
        pruned = change.pruned.map { PrunedRow($0).content.text() }
    }

    func commit(on database: PostgreSQLConnection) throws {
        let registrationTable = PostgreSQLRegistrationTable(hub: hub, database: database)
        let installationTable = PostgreSQLInstallationTable(hub: hub, database: database)
        let departureTable = PostgreSQLTombstoneTable(hub: hub, database: database)
        let prunedTable = PostgreSQLPrunedTable(hub: hub, database: database)
        let removed = change.removals.map(\.row)
        var stored = try registrationTable.stored(at: (removed + puts.map(\.row)).sorted())
        let before = Set(stored.values.compactMap(\.template))
        departureTable.record(change.removals)
        registrationTable.remove(removed)
        try PostgreSQLLastOutcomes(hub: hub, database: database).clear(removed)
        for row in removed { stored[row] = nil }
        installationTable.remove(change.installationRemovals)
        try prunedTable.insert(change.pruned, pruned)
        try prunedTable.restore(change.restored, at: change.restoredAt)
        PostgreSQLHeldRemovalTable(hub: hub, database: database).delete(of: change.resolvedRemovals)
        let templates = try registrationTable.templateKeys(of: puts)
        departureTable.remove(puts.map(\.registration.id))
        try registrationTable.put(puts, templates: templates, over: stored)
        // After the puts, because another registration may use the same template.
        try registrationTable.removeUnused(before.subtracting(templates.compactMap(\.self)))
        installationTable.put(installationPuts, installations)
        try PostgreSQLRunStore.save(change.events, in: database)
    }
}

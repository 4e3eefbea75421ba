import Logging
import Metrics
import PushModel
import Storage

// Records the owner's actions in the audit log.
extension RunningServer {
    /// Writes a backup of all data, including keys, to a file.
    func backup(to path: String) async throws(PushError) {
        try await storage.backup(to: path)
        await audit.note(.owner, .serverBackup, "everything")
    }
}

extension AuditLog {
    /// Creates the audit log. Entries that cannot be stored are logged and counted.
    convenience init(_ trail: any AuditTrail, clock: any HubClock, _ log: Logger) {
        self.init(trail: trail, clock: clock) { record, error in
            log.error("cannot record \(record.action) of \(record.actor) in the audit log: \(error.message)")
            Counter(label: "pushhost_audit_entries_lost_total").increment()
        }
    }

    /// Records a restored backup: the first entry after those of the backup, with the end of the log that it replaced.
    ///
    /// - Parameter end: the last entry of the replaced log; nil if it had none or could not be read.
    package func noteRestoration(_ end: AuditEntry?) async {
        var details: [String: String] = [:]
        if let end { details["logBefore"] = AuditHead(sequence: end.sequence, hash: end.hash).text }
        await note(.owner, .serverRestore, "everything", details)
    }

    /// Records the names of changed settings. Values are not recorded: they may be secrets.
    func noteSettings(_ changes: [Setting]) async {
        let (live, later) = (changes.filter(\.isLive).map(\.name), changes.filter { !$0.isLive }.map(\.name))
        var details = ["by": "SIGHUP"]
        if !later.isEmpty { details["fromTheNextStart"] = later.joined(separator: ", ") }
        await note(.owner, .settingsChange, (live.isEmpty ? later : live).joined(separator: ", "), details)
    }

    /// Records an action on an APNs broadcast channel.
    func noteChannel(_ action: AuditAction, _ channel: String, of hub: String) async {
        await note(.owner, action, channel, ["hub": hub])
    }
}

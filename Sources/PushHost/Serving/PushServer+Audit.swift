import Logging
import Metrics
import PushCore
import Storage

// What the owner does with a server, for the audit log.
extension PushServer {
    /// Copies everything to a file, which holds keys.
    func backup(to path: String) async throws(PushError) {
        try await storage.backup(to: path)
        await audit.note(.owner, .serverBackup, "everything")
    }
}

extension AuditLog {
    /// What cannot be written down is told to the log and counted.
    convenience init(_ trail: any AuditTrail, clock: any HubClock, _ log: Logger) {
        self.init(trail: trail, clock: clock) { record, error in
            log.error("\(record.action) of \(record.actor) is not in the audit log: \(error.message)")
            Counter(label: "pushhost_audit_entries_lost_total").increment()
        }
    }

    /// The first entry behind those of the backup: it says where the log ended whose place the backup's has taken.
    /// - Parameter end: the last entry before; nil for none, or one that could not be read.
    func noteRestoration(_ end: AuditEntry?) async {
        var details: [String: String] = [:]
        if let end { details["logBefore"] = AuditEnd(sequence: end.sequence, hash: end.hash).text }
        await note(.owner, .serverRestore, "everything", details)
    }

    /// Their names: values may be secrets.
    func noteSettings(_ changes: [Setting]) async {
        let (live, later) = (changes.filter(\.isLive).map(\.name), changes.filter { !$0.isLive }.map(\.name))
        var details = ["by": "SIGHUP"]
        if !later.isEmpty { details["fromTheNextStart"] = later.joined(separator: ", ") }
        await note(.owner, .settingsChange, (live.isEmpty ? later : live).joined(separator: ", "), details)
    }

    /// A broadcast channel of APNs.
    func noteChannel(_ action: AuditAction, _ channel: String, of hub: String) async {
        await note(.owner, action, channel, ["hub": hub])
    }
}

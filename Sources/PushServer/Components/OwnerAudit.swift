package import PushModel
package import Storage

/// Records the owner's actions in an audit log.
package struct OwnerAudit: Sendable {
    private let log: AuditLog

    package init(_ log: AuditLog) { self.log = log }

    func noteBackup() async { await log.note(.owner, .serverBackup, "everything") }

    /// Records a restored backup: the first entry after those of the backup, with the end of the log that it replaced.
    ///
    /// - Parameter end: the last entry of the replaced log; nil if it had none or could not be read.
    package func noteRestoration(_ end: AuditEntry?) async {
        var details: [String: String] = [:]
        if let end { details["logBefore"] = AuditHead(sequence: end.sequence, hash: end.hash).text }
        await log.note(.owner, .serverRestore, "everything", details)
    }

    /// Records the renewal, unless nothing was renewed.
    package func note(_ renewed: RenewedSecrets) async {
        guard !renewed.isEmpty else { return }
        var details = ["hubs": renewed.hubs.map(\.name).joined(separator: ", ")]
        if !renewed.keys.isEmpty { details["keys"] = renewed.keys.joined(separator: ", ") }
        await log.note(.owner, .secretsRenew, "everything", details)
    }

    /// Records the names of changed settings. Values are not recorded: they may be secrets.
    func noteSettings(_ changes: [Setting]) async {
        let (live, later) = (changes.filter(\.isReloadable).map(\.name), changes.filter { !$0.isReloadable }.map(\.name))
        var details = ["by": "SIGHUP"]
        if !later.isEmpty { details["fromTheNextStart"] = later.joined(separator: ", ") }
        await log.note(.owner, .settingsChange, (live.isEmpty ? later : live).joined(separator: ", "), details)
    }

    /// Records an action on an APNs broadcast channel.
    func noteChannel(_ action: AuditAction, _ channel: String, of hub: String) async {
        await log.note(.owner, action, channel, ["hub": hub])
    }
}

import Logging
import Metrics
import PushModel
import Storage

/// The open parts of a server's data folder: the database with its health and its audit log, and the control socket.
struct ServerStorage: Sendable {
    let engine: any StorageEngine
    private let session: DatabaseSession
    let health: DatabaseHealth
    let audit: AuditLog
    let socket: ControlSocket

    /// Opens the database, and logs problems that do not prevent the start.
    init(_ inputs: StartupInputs, _ context: ServerContext) async throws(PushError) {
        let log = context.log
        let session = try await inputs.database.open(inputs.keyFile, seal: PayloadKeyFile.seal(of: inputs.payloadKey)) {
            log.warning("\($0)")
        }
        let engine = session.storage
        if let residue = engine.residue { log.warning("\(PayloadKeyFile.residue); \(residue.message); \(PayloadKeyFile.erasing)") }
        self.engine = engine
        self.session = session
        health = DatabaseHealth(engine, context)
        audit = AuditLog(trail: engine.auditTrail, clock: context.hubClock) { record, error in
            log.error("cannot record \(record.action) of \(record.actor) in the audit log: \(error.message)")
            Counter(label: "pushhost_audit_entries_lost_total").increment()
        }
        socket = inputs.socket
    }

    /// Marks the folder, before the server changes anything that a client or device learns of.
    func serve(_ log: Logger) async {
        do throws(PushError) {
            try await session.serve()
        } catch {
            log.warning(
                """
                the data folder could not be marked: if the database's write-ahead log is lost, the next start will not detect it; \
                \(error.message)
                """)
        }
    }

    /// Records what the audit log has only counted, and closes the database.
    func close() async throws(PushError) {
        await audit.flush(all: true)
        try await session.close()
    }
}

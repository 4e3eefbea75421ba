import Glibc
import PushModel
import PushServer
import Storage
import WebAPI

/// Reads an audit log from a running server or, if none runs, from its database.
enum AuditSource: Sendable {
    case server(ManagementClient)
    case folder(SQLiteAuditFile)

    /// Calls `work` with the log of a running server or, if none answers, of its data folder.
    static func with<Value>(
        _ target: ManagementTarget, _ work: (AuditSource) async throws(PushError) -> Value
    ) async throws(PushError) -> Value {
        do throws(PushError) {
            return try await ManagementClient.with(target) { client throws(PushError) in try await work(.server(client)) }
        } catch {
            guard error.code == "control.unreachable", case .folder(let path) = target else { throw error }
            let database = "\(path)/\(DataFolder.databaseName)"
            guard access(database, F_OK) == 0 else { throw error }
            // Reading a database whose log lacks changes would hide that from the next start.
            if !DataFolder.isInUse(path) {
                _ = try await SQLiteStorage.examine(database, try DataFolderMarker(folder: path).read().database)
            }
            return try await work(.folder(SQLiteAuditFile(path: database)))
        }
    }

    func verify(_ recorded: AuditHead?) async throws(PushError) -> JSON {
        switch self {
        case .server(let client):
            try await client.get(ManagementClient.path("audit", "verification"), [("expect", recorded?.text)])
        case .folder(let file): try await file.verify(against: recorded).json
        }
    }

    /// The newest entries first.
    func list(_ filter: AuditFilter, first count: Int?) async throws(PushError) -> (items: [JSON], hasMore: Bool) {
        switch self {
        case .server(let client):
            return try await client.items(
                ManagementClient.path("audit"),
                [("actor", filter.actor), ("action", filter.action), ("since", filter.since?.description)], first: count)
        case .folder(let file):
            let limit = count ?? .max - 1
            let found = try await file.entries(before: nil, limit: limit + 1, filter)
            return (found.prefix(limit).map(\.json), found.count > limit)
        }
    }

    /// The entries that follow a sequence number, oldest first; empty at the end. Not necessarily all of them.
    func entries(after sequence: Int64) async throws(PushError) -> [AuditEntry] {
        switch self {
        case .folder(let file): return try await file.entries(after: sequence, limit: 1000, AuditFilter())
        case .server(let client):
            let page = try await client.get(
                ManagementClient.path("audit"), [("oldestFirst", "true"), ("top", "100"), ("continuation", String(sequence))])
            return try (page["items"]?.array ?? []).map { item throws(PushError) in
                guard let entry = AuditEntry(json: item) else {
                    throw PushError(
                        "control.answer", "an audit entry cannot be read: the server is not PushHost, or has another version",
                        details: [ManagementClient.fromServer: true])
                }
                return entry
            }
        }
    }
}

extension AuditEntry {
    /// Parses an entry as the JSON API returns it; nil if it is not one.
    fileprivate init?(json: JSON) {
        guard case .integer(let sequence)? = json["sequence"], let time = json["time"]?.string.flatMap({ Timestamp(iso8601: $0) }),
            let actor = json["actor"]?.string, let action = json["action"]?.string, let subject = json["subject"]?.string,
            let outcome = json["outcome"]?.string.flatMap({ AuditRecord.Outcome(rawValue: $0) }),
            let hash = json["hash"]?.string.flatMap({ [UInt8](hexadecimal: $0[...]) })
        else { return nil }
        let details = (json["details"]?.object?.members ?? []).map { ($0.key, $0.value.string ?? "") }
        self.init(
            sequence: sequence,
            record: AuditRecord(
                time: time, actor: actor, action: action, subject: subject, details: Dictionary(details) { $1 }, outcome: outcome),
            hash: hash)
    }
}

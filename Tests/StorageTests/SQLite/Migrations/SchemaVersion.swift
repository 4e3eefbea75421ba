import FoundationEssentials
import GRDB
import PushModel
import Support
import Testing

@testable import Storage

/// The versions of the database schema that ever landed, oldest first.
///
/// `Fixtures/Versions` has a database of each as SQL, with the rows that the version wrote for `VersionContent`. Never change a file. A new
/// migration needs a new version: copy the previous database, open it with the new program and the payload key of the file, add rows for
/// what is new, and dump it with `sqlite3 FILE .dump` below the same first lines.
enum SchemaVersion: String, CaseIterable, Comparable, CustomTestStringConvertible {
    case installations = "05-installations-of-devices"
    case templateUsers = "06-users-of-templates"
    case payloadKeys = "07-keys-of-secure-payloads"
    case batches = "08-outcomes-in-batches"
    case remarks = "09-remarks-on-notifications"
    case pruned = "10-devices-that-were-pruned"
    case plugins = "11-keys-and-values-an-audit-trail"
    case origins = "12-origins-of-notifications"
    /// Some commits stored deferred devices without marks, under the same migrations as `deferredDevices`.
    case unmarkedDevices = "13-devices-that-are-held-without-marks"
    case deferredDevices = "13-devices-that-are-held"
    case approvals = "14-sends-that-wait-for-leave"
    case runs = "15-runs-of-flows"
    case departures = "16-whose-registrations-left"
    case plans = "17-plans"
    case planSends = "18-sends-to-plans"
    case heldRemovals = "19-held-removals"
    case sealedSecrets = "20-sealed-secrets"
    case notices = "21-notices-as-values"
    case causes = "22-causes-as-values"

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Fixtures/Versions")
    private static let keyLine = "-- Payload key: "

    static func < (left: SchemaVersion, right: SchemaVersion) -> Bool { left.order < right.order }

    private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    var testDescription: String { rawValue }

    /// The names of the files, without extension.
    static func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).map { String($0.prefix { $0 != "." }) }.sorted()
    }

    private func sql() throws -> String { try String(contentsOf: Self.folder.appending(path: "\(rawValue).sql"), encoding: .utf8) }

    /// The key in the key file of the server that wrote the database.
    func payloadKey() throws -> [UInt8] {
        let line = try sql().split(separator: "\n").first { $0.hasPrefix(Self.keyLine) }
        let digits = Array(try #require(line).dropFirst(Self.keyLine.count))
        try #require(digits.count == 64)
        var key: [UInt8] = []
        for row in stride(from: 0, to: digits.count, by: 2) {
            key.append(try #require(UInt8(String(digits[row..<row + 2]), radix: 16)))
        }
        return key
    }

    func seal() throws -> SecretSeal { SecretSeal(payloadKey: try payloadKey(), random: SeededRandom(seed: 1)) }

    /// Makes the database in a new file.
    func make(_ path: String) async throws {
        let sql = try sql()
        try await Self.change(path) { try $0.execute(sql: sql) }
    }

    /// Changes a database that is not open.
    static func change(_ path: String, _ change: @escaping @Sendable (Database) throws -> Void) async throws {
        let queue = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: false))
        try await queue.write { try change($0) }
        try queue.close()
    }

    /// Reads a database that is not open.
    static func read<Value: Sendable>(_ path: String, _ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let queue = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
        let value = try await queue.read { try body($0) }
        try queue.close()
        return value
    }
}

package import PushModel
package import Storage

extension SecretSeal {
    /// The seal of databases in tests.
    package static let test = keyed(7)

    /// The seal of a key that consists of this byte 32 times.
    package static func keyed(_ key: UInt8) -> SecretSeal {
        SecretSeal(payloadKey: [UInt8](repeating: key, count: 32), random: SeededRandom(seed: UInt64(key)))
    }
}

extension SQLiteStorage {
    package static func open(_ path: String) async throws(PushError) -> SQLiteStorage { try await open(path, seal: .test) }

    /// - Returns: What was wrong with the replaced database.
    package static func replace(
        _ target: String, from path: String, mark: DatabaseMark = DatabaseMark()
    ) async throws(PushError) -> PushError? {
        try await replace(target, from: path, mark: mark, seal: .test).flaw
    }
}

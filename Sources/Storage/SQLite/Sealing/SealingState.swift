import GRDB
import PushModel

/// The key that seals the secrets of a database, and whether the file may still contain earlier clear text.
package struct SealingState: Sendable, Equatable {
    package let keyID: [UInt8]
    /// Whether all pages of the file and the whole log were written after the secrets were sealed.
    package let isClean: Bool

    /// Nil for a database of a version that stored secrets in clear.
    init?(in database: Database) throws {
        guard try database.tableExists("secret_key") else { return nil }
        guard let state = try database.first("SELECT id, is_clean FROM secret_key", read: { ($0.bytes(0), $0.bool(1)) }) else { return nil }
        (keyID, isClean) = state
    }

    package func isSealed(with seal: SecretSeal) -> Bool { keyID == seal.keyID }

    /// Checks a file before it is opened for writing, which would change it. Throws `storage.sealed` for a database that is sealed with
    /// another key.
    static func check(_ path: String, opensWith seal: SecretSeal) throws(PushError) {
        do {
            try SQLiteFile.read(path) { try check($0, path, opensWith: seal, for: .opening) }
        } catch {
            throw PushError(error, database: path)
        }
    }

    /// Throws `storage.sealed` for a database that is sealed with another key.
    static func check(_ database: Database, _ path: String, opensWith seal: SecretSeal, for use: SealedUse) throws {
        guard let state = try SealingState(in: database), !state.isSealed(with: seal) else { return }
        throw StorageError.sealed(path, keyID: state.keyID, seal, for: use)
    }

    /// Rewrites all pages and empties the log, so that the files contain no earlier clear text. Does nothing if they cannot contain any.
    ///
    /// Needs as much free disk space as the database has, also in the folder for temporary files.
    static func eraseResidue(_ writer: some DatabaseWriter) throws {
        try writer.writeWithoutTransaction { database in
            guard let state = try SealingState(in: database), !state.isClean else { return }
            try emptyLog(of: database)
            try database.execute(sql: "VACUUM")
            try emptyLog(of: database)
            try database.run("UPDATE secret_key SET is_clean = 1")
        }
    }

    static func emptyLog(of database: Database) throws {
        let isBusy = try database.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) } == 1
        if isBusy { throw DatabaseError(resultCode: .SQLITE_BUSY) }
    }
}

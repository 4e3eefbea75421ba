import Foundation
import PushServer
import Storage

extension SQLiteStorage {
    /// Opens the database of a server's data folder with the folder's key, which is created if missing.
    static func ofServer(in data: URL) async throws -> SQLiteStorage {
        let file = PayloadKeyFile(folder: data.path)
        let (key, isNew) = try file.keyOrGenerated()
        if isNew { try file.store(key) }
        return try await open(data.appending(path: "pushhost.sqlite").path, seal: PayloadKeyFile.seal(of: key))
    }
}

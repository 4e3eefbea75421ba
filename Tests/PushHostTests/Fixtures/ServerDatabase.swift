import Foundation
import PushCore
import Storage

@testable import PushHost

extension SQLiteStorage {
    /// The database of a server's data folder, with the key of that folder, which is made where there is none.
    static func ofServer(in data: URL) async throws -> SQLiteStorage {
        let file = PayloadKeyFile(folder: data.path)
        let (key, isNew) = try file.keyOrNew()
        if isNew { try file.store(key) }
        return try await open(data.appending(path: "pushhost.sqlite").path, seal: PayloadKeyFile.seal(of: key))
    }
}

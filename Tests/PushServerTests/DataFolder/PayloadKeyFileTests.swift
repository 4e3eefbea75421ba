import Foundation
import PushModel
import Support
import Testing

@testable import PushServer

/// The file with the key of the stored payloads.
@Suite struct PayloadKeyFileTests {
    @Test func `The key is created once, readable only by its owner`() throws {
        let folder = try ScriptFolder()
        let data = try DataFolder(path: folder.url.appending(path: "data").path)
        let path = data.file(PayloadKeyFile.name)
        _ = try PayloadKeyFile(folder: data.path).key()
        let first = try Data(contentsOf: URL(filePath: path))
        _ = try PayloadKeyFile(folder: data.path).key()
        #expect(try Data(contentsOf: URL(filePath: path)) == first)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600 && attributes[.size] as? Int == 32)
        for bytes in [Data(), Data(count: 33)] {
            try bytes.write(to: URL(filePath: path))
            #expect(throws: PushError.self) { _ = try PayloadKeyFile(folder: data.path).key() }
        }
    }

    @Test func `A key is created for an empty database file, but not for a database`() async throws {
        let folder = try ScriptFolder()
        let data = try DataFolder(path: folder.url.appending(path: "data").path)
        try folder.write("data/pushhost.sqlite", Data([1]))
        let missing = await refusal { try PayloadKeyFile(folder: data.path).key() }
        #expect(missing?.code == "data.key_missing", "\(missing?.message ?? "none")")
        // A first start that was interrupted leaves such a file.
        try folder.write("data/pushhost.sqlite", Data())
        #expect(try await FolderDatabase.preparing(data).isNew)
        _ = try PayloadKeyFile(folder: data.path).key()
        #expect(!PayloadKeyFile(folder: data.path).isMissing)
    }
}

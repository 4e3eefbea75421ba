import PushModel
import Storage
import Support
import Testing

@Suite struct MemoryStorageTests {
    @Test func `Memory storage has no backup`() async throws {
        let storage: any StorageEngine = MemoryStorage()
        #expect(await refusal { try await storage.backup(to: "/tmp/x") }?.code == "storage.memory")
        #expect(await refusal { try await storage.restore(from: "/tmp/x") }?.code == "storage.memory")
    }
}

import PushCore
import Storage
import Support
import Testing

@Suite struct MemoryStorageTests {
    @Test func `What is in memory has no backup`() async throws {
        let storage: any StorageEngine = MemoryStorage()
        #expect(await refusal { try await storage.backup(to: "/tmp/x") }?.code == "storage.memory")
        #expect(await refusal { try await storage.restore(from: "/tmp/x") }?.code == "storage.memory")
    }
}

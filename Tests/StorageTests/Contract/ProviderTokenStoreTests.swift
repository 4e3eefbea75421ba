import PushModel
import Storage
import Support
import Testing

@Suite struct ProviderTokenStoreTests {
    @Test(arguments: Engine.allCases)
    func `The last token of a key is stored`(engine: Engine) async throws {
        try await engine.run { storage in
            let (store, first) = (storage.providerTokens, ProviderToken(token: Secret(Samples.oddText), issuedAt: HubBench.startTime))
            #expect(try await store.token("a") == nil)
            try await store.put(first, for: "a")
            let second = ProviderToken(token: Secret("2"), issuedAt: HubBench.startTime + .milliseconds(1))
            try await store.put(second, for: "b")
            #expect(try await store.token("a") == first)
            try await store.put(second, for: "a")
            #expect(try await store.token("a") == second)
        }
    }
}

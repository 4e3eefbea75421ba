import PushCore

extension SecurePayloadStore {
    /// At the beginning of the tests' time.
    package func insert(_ payload: SealedPayload, limit: Int, ofSender: Int) async throws(PushError) -> SecurePayloadInsertion {
        try await insert(payload, limit: SecurePayloadLimit(all: limit, ofSender: ofSender), now: HubBench.dawn)
    }
}

package import PushModel

extension SecurePayloadStore {
    /// Inserts at the start time of the tests.
    package func insert(_ payload: SealedPayload, limit: Int, ofSender: Int) async throws(PushError) -> SecurePayloadInsertion {
        try await insert(payload, limit: SecurePayloadLimit(all: limit, ofSender: ofSender), now: HubBench.startTime)
    }
}

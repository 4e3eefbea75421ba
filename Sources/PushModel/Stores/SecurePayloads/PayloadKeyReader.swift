/// Reads with which keys the readable secure payloads were sealed.
package protocol PayloadKeyReader: Sendable {
    /// Number of readable payloads by the mark of the key that sealed them.
    func readableByKey() async throws(PushError) -> [[UInt8]: Int]
    /// At most `limit` readable payloads whose key is unknown.
    func unmarked(limit: Int) async throws(PushError) -> [SealedPayload]
}

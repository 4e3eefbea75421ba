/// Sends and reads secure payloads through an app backend.
package protocol SecurePayloadGateway: Sendable {
    /// `POST /api/notifications` of the secure backend: stores the payload and sends only its id to the recipient's devices.
    ///
    /// Before storing or sending, throws `secure.lifetime`, `secure.maximum_reads`, `secure.payload` (400), `secure.too_large` (413, over
    /// 64 KiB of JSON) or `secure.too_many` (429: the recipient has 100 payloads, or 25 from this sender, and none was ever read; otherwise
    /// one that was read is expired early). If the push cannot be sent, nothing is stored or expired.
    func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt
    /// `GET /api/notifications/{id}`. Only for the recipient.
    ///
    /// Throws `secure.not_found` (404), `secure.forbidden` (403), `secure.expired`, `secure.exhausted`,
    /// `secure.revoked` and `secure.sealed` (410).
    func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON
    /// Makes the payload unreadable. For the sender or the recipient. Does nothing if it is already unreadable.
    func revokeSecurePayload(_ session: Session, id: String) async throws(PushError)
    /// The read attempts with their results, oldest first. For the sender and the recipient.
    func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead]
}

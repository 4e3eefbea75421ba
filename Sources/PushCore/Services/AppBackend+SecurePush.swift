// Secure push: the payload stays here, its id crosses the wires of the push services.
extension AppBackend {
    package func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt {
        let session = try await accounts.session(for: session.token)
        let kept = try await securePayloads.keep(request, from: session.username)
        let payload = kept.payload
        // What nobody can read any more need not wake anybody.
        let push = NotificationRequest(
            audience: .expression(.tag(payload.addressee)), content: .native(WakePayloads.secure(id: payload.id)),
            options: PushOptions(expiration: payload.expiration))
        do {
            let outcome = try await hub.send(push)
            return SecureReceipt(id: payload.id, expiration: payload.expiration, outcome: outcome)
        } catch {
            // A store that fails here too leaves a payload that expires unread; the sender must learn of the first failure.
            try? await securePayloads.discard(kept)
            throw error
        }
    }

    package func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON {
        let session = try await accounts.session(for: session.token)
        return try await securePayloads.read(id, by: session.username)
    }

    /// What the user can still read, the first that expires first, sealed: who has lost an id sees it there.
    package func readableSecurePayloads(_ session: Session) async throws(PushError) -> [SealedPayload] {
        let session = try await accounts.session(for: session.token)
        return try await securePayloads.readable(by: session.username)
    }

    package func revokeSecurePayload(_ session: Session, id: String) async throws(PushError) {
        let session = try await accounts.session(for: session.token)
        try await securePayloads.revoke(id, by: session.username)
    }

    package func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead] {
        let session = try await accounts.session(for: session.token)
        return try await securePayloads.reads(of: id, for: session.username)
    }
}

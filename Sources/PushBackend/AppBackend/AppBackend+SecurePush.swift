import PushModel

// Secure push: the payload stays in the backend; only its id is sent through push services.
extension AppBackend {
    package func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt {
        let session = try await accounts.session(for: session.token)
        let kept = try await securePayloads.keep(request, from: session.username)
        let payload = kept.payload
        // A push for an expired payload is useless, so both expire together.
        let push = NotificationRequest(
            audience: .expression(.tag(payload.addressee)), content: .native(WakePayloads.secure(id: payload.id)),
            options: PushOptions(expiration: payload.expiration))
        do {
            let outcome = try await hub.send(push)
            return SecureReceipt(id: payload.id, expiration: payload.expiration, outcome: outcome)
        } catch {
            // If this fails too, an unread payload remains until it expires. The sender must get the first error.
            try? await securePayloads.discard(kept)
            throw error
        }
    }

    package func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON {
        let session = try await accounts.session(for: session.token)
        return try await securePayloads.read(id, by: session.username)
    }

    /// The sealed payloads that the user can still read, earliest expiration first. They show ids that a device has lost.
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

import Crypto
import PushModel

// Sessions of clients that send their credentials with every request instead of logging in.
extension AccountService {
    /// The session for a user name and its password.
    ///
    /// Credentials that were verified in the last five minutes are not hashed again from the same address, unless the account has changed.
    /// Failures at other accounts do not matter. Too many failures at this account from this address reject even verified credentials;
    /// otherwise another client at the address could go on guessing them.
    ///
    /// - Parameters:
    ///   - header: the credentials as received, by which they are recognized.
    ///   - address: the address of the client.
    /// Throws what `login` throws.
    package func session(
        header: Secret, username: String, password: Secret, from address: String
    ) async throws(PushError) -> Session {
        let mark = mark(of: header, from: address)
        try refuse(username, from: address)
        if let session = try await verifiedSession(mark) { return session }
        // Of several concurrent requests of a client, one verifies the credentials for all.
        if !proving.take(mark) { await withCheckedContinuation { proving.wait(mark, $0) } }
        defer { proving.leave(mark) }
        if let session = try await verifiedSession(mark) { return session }
        let proof = try await prove(username, password, from: address, isAnsweredAtOnce: true)
        try await ask(proof, from: address)
        environment.note(.backend, "\(proof.username) \(proof.manner)")
        return admit(
            proof.user, proof.username, by: proof.hash.map { .account($0) } ?? .tutorial, mark,
            until: wallClock.now + CredentialSessionCache.lifetime)
    }

    /// The session of a user that a token issuer has authenticated. The user needs no account.
    ///
    /// - Parameters:
    ///   - header: the token as received.
    ///   - end: when the token expires.
    /// Throws `auth.username` for an invalid user name, and errors of hooks that reject the login.
    package func session(header: Secret, issuedTo username: String, until end: Timestamp) async throws(PushError) -> Session {
        let user = try Self.tag(of: username)
        let mark = mark(of: header)
        if let session = try await verifiedSession(mark) { return session }
        if environment.hooks.isWanted(.onLogin) { try await environment.hooks.onLogin(LoginDraft(username: username)) }
        return admit(user, username, by: .issuer, mark, until: min(end, wallClock.now + CredentialSessionCache.lifetime))
    }

    private func verifiedSession(_ mark: [UInt8]) async throws(PushError) -> Session? {
        guard let pass = passes.pass(mark: mark), pass.staleAt > wallClock.now else { return nil }
        guard try await holds(pass) else {
            passes.remove(Self.digest(of: pass.session.token))
            return nil
        }
        return pass.session
    }

    /// Whether the verification still holds. The account may have changed in any way, also by a restored backup.
    func holds(_ pass: CredentialSessionCache.Pass) async throws(PushError) -> Bool {
        switch pass.basis {
        case .account(let hash): try await store.account(pass.user)?.hash == hash
        case .tutorial: try await store.account(pass.user) == nil
        case .issuer: true
        }
    }

    private func admit(
        _ user: Tag, _ username: String, by basis: CredentialSessionCache.Basis, _ mark: [UInt8], until end: Timestamp
    ) -> Session {
        let now = wallClock.now
        let session = Session(username: username, token: Secret(environment.random.hex(64)), expiration: end)
        passes.insert(
            CredentialSessionCache.Pass(
                session: session, user: user, basis: basis, staleAt: min(end, now + CredentialSessionCache.freshness)),
            digest: Self.digest(of: session.token), mark: mark, now: now)
        return session
    }

    /// - Parameter address: nil if the credentials are valid from every address.
    private func mark(of header: Secret, from address: String? = nil) -> [UInt8] {
        let text = Array("\(header.reveal())\0\(address ?? "")".utf8)
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: markKey))
    }
}

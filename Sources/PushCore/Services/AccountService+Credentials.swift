import Crypto

// Those who send their credentials with every request have a session that nobody opened.
extension AccountService {
    /// The session of a user name and its password. What was proved within the last five minutes is not hashed again, unless the
    /// account has changed since: for the address that proved it, whatever fails at other accounts, as long as not too much fails at
    /// this one. Else whoever shares the address could go on guessing what others have proved.
    ///
    /// - Parameters:
    ///   - header: the credentials as they came, by which they are known again.
    ///   - address: where the request comes from.
    /// Throws what `login` throws.
    package func session(
        header: Secret, username: String, password: Secret, from address: String
    ) async throws(PushError) -> Session {
        let mark = mark(of: header, from: address)
        try refuse(username, from: address)
        if let session = try await provedSession(mark) { return session }
        // An app asks several things at once: one of them proves it for all.
        if !proving.take(mark) { await withCheckedContinuation { proving.wait(mark, $0) } }
        defer { proving.leave(mark) }
        if let session = try await provedSession(mark) { return session }
        let proof = try await prove(username, password, from: address, isAnsweredAtOnce: true)
        try await ask(proof, from: address)
        environment.note(.backend, "\(proof.username) \(proof.manner)")
        return admit(
            proof.user, proof.username, by: proof.hash.map { .account($0) } ?? .tutorial, mark,
            until: wallClock.now + CredentialPasses.lifetime)
    }

    /// The session of a user whom a token's issuer answers for, who needs no account.
    ///
    /// - Parameters:
    ///   - header: the token as it came.
    ///   - end: when the token loses its force.
    /// Throws `auth.username` for a name that no user can have, and what hooks throw that do not let the user in.
    package func session(header: Secret, issuedTo username: String, until end: Timestamp) async throws(PushError) -> Session {
        let user = try Self.tag(of: username)
        let mark = mark(of: header)
        if let session = try await provedSession(mark) { return session }
        if environment.hooks.isWanted(.onLogin) { try await environment.hooks.onLogin(LoginDraft(username: username)) }
        return admit(user, username, by: .issuer, mark, until: min(end, wallClock.now + CredentialPasses.lifetime))
    }

    private func provedSession(_ mark: [UInt8]) async throws(PushError) -> Session? {
        guard let pass = passes.pass(mark: mark), pass.staleAt > wallClock.now else { return nil }
        guard try await holds(pass) else {
            passes.remove(Self.digest(of: pass.session.token))
            return nil
        }
        return pass.session
    }

    /// Whether what was proved then is so still: the account may have changed by any way, a restored backup too.
    func holds(_ pass: CredentialPasses.Pass) async throws(PushError) -> Bool {
        switch pass.basis {
        case .account(let hash): try await store.account(pass.user)?.hash == hash
        case .tutorial: try await store.account(pass.user) == nil
        case .issuer: true
        }
    }

    private func admit(
        _ user: Tag, _ username: String, by basis: CredentialPasses.Basis, _ mark: [UInt8], until end: Timestamp
    ) -> Session {
        let now = wallClock.now
        let session = Session(username: username, token: Secret(environment.random.hex(64)), expiration: end)
        passes.insert(
            CredentialPasses.Pass(
                session: session, user: user, basis: basis, staleAt: min(end, now + CredentialPasses.freshness)),
            digest: Self.digest(of: session.token), mark: mark, now: now)
        return session
    }

    /// - Parameter address: nil for what is the same from everywhere.
    private func mark(of header: Secret, from address: String? = nil) -> [UInt8] {
        let text = Array("\(header.reveal())\0\(address ?? "")".utf8)
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: markKey))
    }
}

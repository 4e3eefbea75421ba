import HTTPTypes
import PushBackend
import PushModel

/// Authenticates users of the app backend by their password, a session's token, or a token of another issuer.
struct BackendAuthenticator: Sendable {
    let services: BackendServices
    let throttle: Throttle?

    /// Whether the error means that authentication failed.
    static func isRefusal(_ error: PushError) -> Bool {
        ["auth.failed", "auth.session_expired", "auth.token", "auth.username"].contains(error.code)
    }

    func session(_ credentials: BackendCredentials, _ request: WebRequest) async throws(PushError) -> Session {
        let header = Secret(request.fields[.authorization] ?? "")
        switch credentials {
        case .basic(let username, let password):
            return try await services.accounts.session(
                header: header, username: username, password: password, from: request.client.address)
        case .bearer(let token):
            guard let issuer = services.issuer, token.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 else {
                return try await services.accounts.session(for: Secret(token))
            }
            let claims = try await issuer.verified(token, now: request.now)
            do throws(PushError) {
                return try await services.accounts.session(header: header, issuedTo: claims.username, until: claims.end)
            } catch {
                throw error.code == "auth.username" ? TokenIssuer.refusal(error.message) : error
            }
        }
    }

    func checkThrottle(_ session: Session, _ request: WebRequest) throws(PushError) {
        guard let seconds = throttle?.wait("user \(session.username.lowercased())", now: request.now) else { return }
        throw HubAccess.throttled("too many requests from this user", seconds)
    }

    // MARK: - Other interfaces

    /// Returns the authenticated session and the body. The credentials are checked again after the body has arrived.
    func account(_ request: WebRequest, limit: Int) async throws(PushError) -> (Session, [UInt8]) {
        guard let credentials = BackendCredentials(request.fields[.authorization]) else {
            throw PushError(
                "auth.failed", "the request has no credentials", hint: "send a user name and password, or the token of a session",
                status: 401, details: ["challenge": .string("\(Self.basic), Bearer realm=\"PushHost\"")])
        }
        let session = try await proving(credentials) { () throws(PushError) in
            let session = try await self.session(credentials, request)
            try checkThrottle(session, request)
            return session
        }
        let body = try await request.body.read(limit: limit)
        _ = try await proving(credentials) { () throws(PushError) in try await services.accounts.session(for: session.token) }
        return (session, body)
    }

    private static let basic = #"Basic realm="PushHost", charset="UTF-8""#

    /// Adds the authentication challenge to a 401 error (RFC 9110, section 15.5.2).
    private func proving<Answer>(
        _ credentials: BackendCredentials, _ work: () async throws(PushError) -> Answer
    ) async throws(PushError) -> Answer {
        do throws(PushError) {
            return try await work()
        } catch {
            guard Self.isRefusal(error) else { throw error }
            var error = error
            error.status = 401
            if case .bearer = credentials {
                error.details["challenge"] = #"Bearer error="invalid_token""#
            } else {
                error.details["challenge"] = .string(Self.basic)
            }
            throw error
        }
    }
}

import HTTPTypes
import PushBackend
import PushModel

// Authentication with a backend account for other interfaces.
extension BackendInterface {
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
            guard BackendInterface.isRefusal(error) else { throw error }
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

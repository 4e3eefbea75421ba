import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel

/// The app backend of Azure's tutorials: registration, notifying users, secure push, and sessions for clients that do not send a password
/// with every request.
struct BackendInterface: Sendable {
    /// Maximum size of a body in bytes: the largest payload with every character escaped.
    static let bodyLimit = 448 << 10
    private static let loginLimit = 16 << 10

    let namespace: Namespace
    let authenticator: BackendAuthenticator
    let services: BackendServices
    /// Nil if the server runs no flows.
    var flows: FlowDispatcher?

    func answer(_ request: WebRequest, at path: BackendPath) async throws(PushError) -> WebAnswer {
        try Self.checkMethod(request, path)
        guard !namespace.isClosed else { throw Namespace.restoring }
        let credentials = BackendCredentials(request.fields[.authorization])
        do throws(PushError) {
            if path.resource == .login { return try await login(request, credentials) }
            // The tutorials' sample rejects such requests with an empty response.
            guard let credentials else { return WebAnswer(.forbidden) }
            let session = try await authenticator.session(credentials, request)
            try authenticator.checkThrottle(session, request)
            if path.resource == .logout { return try await logout(session) }
            return try await BackendCall(request: request, path: path, session: session, interface: self).answer()
        } catch {
            guard BackendAuthenticator.isRefusal(error) else { throw error }
            if case .basic = credentials { return WebAnswer(.forbidden) }
            var error = error
            error.details["challenge"] = path.resource == .login ? #"Bearer realm="PushHost""# : #"Bearer error="invalid_token""#
            throw error
        }
    }

    private static func checkMethod(_ request: WebRequest, _ path: BackendPath) throws(PushError) {
        let methods = path.methods
        guard methods.split(separator: ", ").contains(where: { $0 == request.method.rawValue }) else {
            var error = PushError.notAllowed(request, methods)
            error.details["allow"] = .string(methods)
            throw error
        }
    }

    private func login(_ request: WebRequest, _ credentials: BackendCredentials?) async throws(PushError) -> WebAnswer {
        let session: Session
        if case .basic(let username, let password) = credentials {
            session = try await services.accounts.login(username: username, password: password, from: request.client.address)
        } else {
            let members = try BackendBody(try await request.body.read(limit: Self.loginLimit)).object("username and password")
            try members.check(["username", "password"])
            session = try await services.accounts.login(
                username: try members.text("username"), password: Secret(try members.text("password")), from: request.client.address)
        }
        let json: JSON = [
            "username": .string(session.username), "token": .string(session.token.reveal()), "tokenType": "Bearer",
            "expiresAt": .timestamp(session.expiration),
        ]
        return WebAnswer(.ok, "application/json", json.serialized())
    }

    private func logout(_ session: Session) async throws(PushError) -> WebAnswer {
        try await services.accounts.logout(session.token)
        return WebAnswer(.noContent)
    }
}

import FoundationEssentials
import HubWire
import NIOHTTP1
package import PushModel

/// The app backend of another machine: a PushHost's, or one written after Azure's tutorials.
///
/// Backends from the tutorials have no tokens: if `POST /api/login` does not exist, each request carries the user's name and password.
/// Errors: those of ``BackendGateway`` for a PushHost; otherwise `auth.failed` for 401 and 403, `hub.gone` for 410, and those of
/// ``RemoteClient``.
package struct RemoteBackend: BackendGateway {
    /// The address, `https://backend.example.com`, without a trailing slash.
    let base: String
    let client: RemoteClient
    /// The hub that contains the backend's registrations and notifications.
    let hub: RemoteNotificationHub
    let accounts: Accounts?

    /// Creates an account, if this program may do so: in a server's lab.
    package typealias Accounts = @Sendable (_ username: String, _ password: Secret) async throws(PushError) -> AccountState

    package init(base: String, client: RemoteClient, hub: RemoteNotificationHub, accounts: Accounts? = nil) {
        self.base = base
        self.client = client
        self.hub = hub
        self.accounts = accounts
    }

    package func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState {
        guard let accounts else { return .notManaged }
        return try await accounts(username, password)
    }

    // MARK: - Sessions

    /// Prefix of the token of a session in a backend without sessions.
    private static let basic = "Basic "
    fileprivate static let bearer = "Bearer "

    package func login(username: String, password: Secret) async throws(PushError) -> Session {
        // Name and password as in the tutorials' apps, because tutorial backends check these before the path.
        let credentials = Session(
            username: username, token: Secret(Self.basic + Data("\(username):\(password.reveal())".utf8).base64EncodedString()),
            expiration: .distantFuture)
        let answer: RemoteAnswer
        do throws(PushError) {
            answer = try await ask(.POST, "login", credentials)
        } catch  where error.code == "auth.session_expired" {
            throw PushError(
                "auth.failed", "wrong user name or password for \"\(username)\"", hint: "check both", status: 401,
                trackingID: error.trackingID)
        } catch  where [404, 405].contains(error.status) {
            // A PushHost always has a login path. If it reports the path as missing, the address is wrong.
            guard error.details[RemoteErrorResponse.isProblem] == nil else { throw noBackend(error) }
            return credentials
        }
        let json = try Self.json(answer, base)
        guard let token = json["token"]?.string, let name = json["username"]?.string else { throw Self.unreadable(base) }
        return Session(
            username: name, token: Secret(Self.bearer + token),
            expiration: json["expiresAt"]?.string.flatMap { Timestamp(iso8601: $0) } ?? .distantFuture)
    }

    package func logout(_ session: Session) async throws(PushError) {
        guard session.hasToken else { return }
        _ = try await ask(.POST, "logout", session, isRepeatable: false)
    }

    // MARK: - Registrations

    package func registrationID(_ session: Session, handle: DeviceHandle) async throws(PushError) -> RegistrationID {
        let answer = try await ask(.POST, "register?handle=\(PercentEncoding.encode(handle.backendText))", session)
        guard let id = try Self.json(answer, base).string.flatMap({ RegistrationID($0) }) else { throw Self.unreadable(base) }
        return id
    }

    package func putRegistration(
        _ session: Session, _ id: RegistrationID, _ description: RegistrationDescription
    ) async throws(PushError) -> Registration {
        var body = JSONObject([
            ("Platform", JSON.string(description.handle.platform.backendName)), ("Handle", .string(description.handle.backendText)),
            ("Tags", .array(description.tags.map { .string($0.text) })),
        ])
        if let template = description.template { body.append("Template", template.json) }
        let answer = try await ask(.PUT, "register/\(id)", session, body: .object(body), prefers: "return=representation")
        // A tutorial backend returns no body.
        guard !answer.body.isEmpty else { return try await described(id, description, session) }
        let registration = try Registration(backend: Self.json(answer, base), description)
        hub.note(registration)
        return registration
    }

    /// Reads the registration from the hub; if the key does not permit that, returns what was sent.
    private func described(
        _ id: RegistrationID, _ description: RegistrationDescription, _ session: Session
    ) async throws(PushError) -> Registration {
        do throws(PushError) {
            return try await hub.registration(id)
        } catch  where [401, 403, 404].contains(error.status) {
            let own = Tag(validating: "username:\(session.username)")
            return Registration(
                id: id, etag: 1, expiration: .distantFuture, updatedAt: client.clock.now,
                description: RegistrationDescription(
                    handle: description.handle, tags: description.tags + (own.map { [$0] } ?? []), template: description.template))
        }
    }

    package func deleteRegistration(_ session: Session, _ id: RegistrationID) async throws(PushError) {
        _ = try await ask(.DELETE, "register/\(id)", session, isRepeatable: false)
    }

    package func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration {
        let platform = handle.platform
        let isChannel = platform == .wns || platform == .mpns
        let names: [Platform: String] = [.apns: "ios", .wns: "windows"]
        let body = JSONObject([
            ("platform", JSON.string(names[platform] ?? platform.backendName)), ("instId", .string(installationID)),
            (isChannel ? "channelUri" : "deviceToken", .string(handle.backendText)),
        ])
        let answer = try await ask(.POST, "register", session, body: .object(body), isRepeatable: false)
        let registration: Registration
        do throws(PushError) {
            registration = try Registration(backend: Self.json(answer, base), RegistrationDescription(handle: handle))
        } catch {
            throw error.markedAsExecuted
        }
        hub.note(registration)
        return CurrentUserRegistration(registration: registration, outcome: try await outcome(answer))
    }

    // MARK: - Notifications

    package func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome {
        guard platform != nil || session.hasToken else {
            throw PushError(
                "target.unsupported", "the app backend \(base) sends to one platform at a time, like the backends of Azure's tutorials",
                hint: "name the platform: session:send{ platform = \"apns\", … }", status: 400)
        }
        var query = "to_tag=\(PercentEncoding.encode(username))"
        if let platform { query += "&pns=\(platform.backendName)" }
        return try await outcome(ask(.POST, "notifications?\(query)", session, body: .string(text), isRepeatable: false))
    }

    package func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt {
        var body = JSONObject([("to", JSON.string(request.username)), ("payload", request.payload)])
        if let lifetime = request.lifetime {
            body.append("expiresIn", .number(Double(lifetime.components.seconds) + Double(lifetime.components.attoseconds) / 1e18))
        }
        if let maximum = request.maximumReads { body.append("maxReads", .integer(Int64(maximum))) }
        let answer = try await ask(.POST, "notifications", session, body: .object(body), isRepeatable: false)
        guard let json = try? Self.json(answer, base), let id = json["id"]?.string,
            let expiration = json["expiresAt"]?.string.flatMap({ Timestamp(iso8601: $0) })
        else { throw Self.unreadable(base).markedAsExecuted }
        return SecureReceipt(id: id, expiration: expiration, outcome: try await outcome(answer))
    }

    package func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON {
        // A read counts even if the response is lost.
        let answer = try await ask(.GET, "notifications/\(PercentEncoding.encode(id))", session, isRepeatable: false)
        guard let json = try? Self.json(answer, base), let payload = json["Content"] ?? json["Payload"] else {
            throw Self.unreadable(base).markedAsExecuted
        }
        return payload
    }

    package func revokeSecurePayload(_ session: Session, id: String) async throws(PushError) {
        _ = try await ask(.DELETE, "notifications/\(PercentEncoding.encode(id))", session)
    }

    package func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead] {
        let json = try Self.json(try await ask(.GET, "notifications/\(PercentEncoding.encode(id))/reads", session), base)
        return (json["items"]?.array ?? []).compactMap { item in
            guard let time = item["time"]?.string.flatMap({ Timestamp(iso8601: $0) }), let name = item["username"]?.string,
                let result = item["result"]?.string.flatMap({ SecureRead.Result(rawValue: $0) })
            else { return nil }
            return SecureRead(time: time, username: name, result: result)
        }
    }

    /// Waits for the outcome of the notifications that the backend has passed on to the hub.
    private func outcome(_ answer: RemoteAnswer) async throws(PushError) -> NotificationOutcome {
        let ids = answer.headers["Notification-Id"].flatMap { $0.split(separator: ",") }.map(\.trimmed)
        guard !ids.isEmpty else {
            return NotificationOutcome(id: "", state: .enqueued, tags: nil, times: NotificationTimes(enqueuedAt: hub.clock.now))
        }
        return try await hub.finishAccepted(NotificationParts.id(joining: ids))
    }

    // MARK: - Requests

    private func ask(
        _ method: HTTPMethod, _ path: String, _ session: Session? = nil, body: JSON? = nil, prefers: String? = nil,
        isRepeatable: Bool = true
    ) async throws(PushError) -> RemoteAnswer {
        var request = RemoteRequest(method, "\(base)/api/\(path)", isRepeatable: isRepeatable)
        request.headers.add(name: "Accept", value: "application/json, application/problem+json")
        if let session { request.headers.add(name: "Authorization", value: session.token.reveal()) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = body.serialized()
        }
        if let prefers { request.headers.add(name: "Prefer", value: prefers) }
        do throws(PushError) {
            return try await client.answer(request)
        } catch  where error.code == "target.key" {
            throw PushError(
                "auth.session_expired", "the backend \(base) rejected the user",
                hint: "check name and password", status: error.status, trackingID: error.trackingID)
        } catch
            where method == .POST && path != "login" && error.details[RemoteErrorResponse.isProblem] == nil
            && [404, 405].contains(error.status)
        {
            // These requests do not refer to an object that could be missing, so the path itself is unknown.
            throw noBackend(error)
        }
    }

    private func noBackend(_ error: PushError) -> PushError {
        PushError(
            "target.answer", "\(base) is not an app backend: \(error.message)", hint: "check its address with --backend",
            status: error.status, trackingID: error.trackingID)
    }

    private static func json(_ answer: RemoteAnswer, _ base: String) throws(PushError) -> JSON {
        do {
            return try JSON(parsing: answer.body, numbers: .lossless)
        } catch {
            throw unreadable(base)
        }
    }

    private static func unreadable(_ base: String) -> PushError {
        PushError(
            "target.answer", "the response of \(base) cannot be read", hint: "is it an app backend? Check the address with --backend")
    }
}

extension Session {
    /// Whether the session is one of a PushHost, with a token.
    fileprivate var hasToken: Bool { token.reveal().hasPrefix(RemoteBackend.bearer) }
}

extension PushError {
    /// Marks an error that occurred after the backend had executed the request.
    fileprivate var markedAsExecuted: PushError {
        var error = self
        error.details["may_be_done"] = true
        error.hint = "\(ConnectionFailure.checkFirstHint)\(hint.map { "; \($0)" } ?? "")"
        return error
    }
}

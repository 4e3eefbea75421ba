import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel

/// A request to the app backend by an authenticated user.
struct BackendCall: Sendable {
    let request: WebRequest
    let path: BackendPath
    let session: Session
    let interface: BackendInterface

    var services: BackendServices { interface.services }
    var variant: TutorialVariant { path.variant ?? services.variant }

    func answer() async throws(PushError) -> WebAnswer {
        let hub = try hub
        try request.query.checkUnique()
        switch (path.resource, request.method) {
        case (.register, _): return try await register(hub)
        case (.registration(let id), .put): return try await put(id, hub)
        case (.registration(let id), _):
            try await services.backend(of: hub).deleteRegistration(session, try Self.registrationID(id, otherwise: 404))
            return WebAnswer(.ok)
        case (.notification(let id), .get): return try await fetch(id, hub)
        case (.notification(let id), _):
            try await services.backend(of: hub).revokeSecurePayload(session, id: id)
            return WebAnswer(.noContent)
        case (.reads(let id), _): return try await reads(id, hub)
        case (.notifications, .get): return try await list(hub)
        case (.notifications, _), (.login, _), (.logout, _): return try await send(hub)
        }
    }

    private var hub: ServedHub {
        get throws(PushError) {
            guard let hub = interface.namespace.hub(path.hub ?? services.hub) else { throw HubAccess.hubNotFound }
            return hub
        }
    }

    /// Reads the body and returns the backend for it. Reading may take long, so the hub is checked again: it must not have been replaced.
    /// The backend checks the session again.
    private func body(_ hub: ServedHub) async throws(PushError) -> (BackendBody, AppBackend) {
        let bytes = try await request.body.read(limit: BackendInterface.bodyLimit)
        guard try self.hub.record.number == hub.record.number else { throw HubAccess.hubNotFound }
        return (try BackendBody(bytes), services.backend(of: hub))
    }

    static func answer(_ status: HTTPResponse.Status, _ json: JSON) -> WebAnswer {
        WebAnswer(status, "application/json; charset=utf-8", json.serialized())
    }

    /// Parses a registration id. A malformed id never belonged to the hub, so a client that writes one must request a new one.
    private static func registrationID(_ text: String, otherwise status: Int) throws(PushError) -> RegistrationID {
        if let id = RegistrationID(text) { return id }
        throw PushError(
            status == 410 ? "hub.gone" : "hub.not_found", "invalid registration id \"\(text)\"",
            hint: "request an id with POST /api/register", status: status)
    }

    // MARK: - Registering

    /// Returns an id for a handle, or registers the current user if the request has a body, as in the tutorials of 2013.
    private func register(_ hub: ServedHub) async throws(PushError) -> WebAnswer {
        let (body, backend) = try await body(hub)
        let handle = request.query["handle"]?.nonEmpty
        guard handle == nil, body.json != nil else {
            let handles = try handle.map { text throws(PushError) in try DeviceHandle.candidates(text) } ?? []
            let id = try await backend.registrationID(session, handles: handles)
            return Self.answer(.ok, .string(id.text))
        }
        let members = try body.object("platform, instId, and deviceToken or channelUri")
        let device = try DeviceHandle(current: members)
        let made = try await backend.registerCurrentUser(session, installationID: try members.text("instId"), handle: device)
        return Self.answer(.ok, made.registration.document).notifying(made.outcome)
    }

    private func put(_ id: String, _ hub: ServedHub) async throws(PushError) -> WebAnswer {
        let id = try Self.registrationID(id, otherwise: 410)
        let (body, backend) = try await body(hub)
        let description = try RegistrationDescription(
            body.object("Platform, Handle and Tags"), isTemplate: variant == .crossPlatform)
        let registration = try await backend.putRegistration(session, id, description)
        guard request.prefersRepresentation else { return WebAnswer(.ok) }
        var answer = Self.answer(.ok, registration.document)
        answer.fields[.preferenceApplied] = "return=representation"
        return answer
    }

    // MARK: - Sending

    private func send(_ hub: ServedHub) async throws(PushError) -> WebAnswer {
        let (body, backend) = try await body(hub)
        if let flows = interface.flows,
            let answer = try await BackendFlow(flows: flows, request: request, session: session, variant: variant).response(to: body)
        {
            return answer
        }
        switch body.json {
        case .string(let text): return try await notify(text, backend)
        case .object: return try await sendSecure(try body.object("to and payload"), backend)
        case nil where request.query.has("to_tag"):
            throw BackendBody.refusal("there is no text to send", "send it as the body, in JSON: \"text\"")
        case nil: return try await sendWithoutBody(backend)
        default: throw BackendBody.refusal("the body is neither a string nor an object", "send \"text\", or an object with to and payload")
        }
    }

    private func sendWithoutBody(_ backend: AppBackend) async throws(PushError) -> WebAnswer {
        switch variant {
        case .notifyUsers, .crossPlatform:
            return WebAnswer(.ok).notifying(try await backend.greet(session, asTemplate: variant == .crossPlatform))
        case .securePush:
            let request = SecureRequest(username: session.username, payload: "Secure confirmation.")
            return WebAnswer(.ok).notifying(try await backend.sendSecure(session, request).outcome)
        }
    }

    private func notify(_ text: String, _ backend: AppBackend) async throws(PushError) -> WebAnswer {
        guard let username = request.query["to_tag"]?.nonEmpty else {
            throw PushError("request.parameter", "no recipient: to_tag is missing", hint: "write ?pns=fcm&to_tag=NAME", status: 400)
        }
        let platform = try request.query["pns"]?.nonEmpty.map { name throws(PushError) in try Platform(pns: name) }
        return WebAnswer(.ok).notifying(try await backend.notify(session, username: username, text: text, platform: platform))
    }

    private func sendSecure(_ members: BackendBody.Members, _ backend: AppBackend) async throws(PushError) -> WebAnswer {
        try members.check(["to", "payload", "expiresIn", "maxReads"])
        guard members.has("payload") else { throw BackendBody.refusal("the body has no payload", "add one, any JSON") }
        var secure = SecureRequest(username: try members.text("to"), payload: members["payload"] ?? .null)
        if let value = members["expiresIn"] {
            guard let seconds = value.double, abs(seconds) < 1e9 else {
                throw BackendBody.refusal("expiresIn is not a number", "use seconds, such as 3600")
            }
            secure.lifetime = .milliseconds(Int64(seconds * 1000))
        }
        if let value = members["maxReads"] {
            guard let count = value.int else { throw BackendBody.refusal("maxReads is not an integer", "use a number from 1") }
            secure.maximumReads = count
        }
        let receipt = try await backend.sendSecure(session, secure)
        return Self.answer(
            .created,
            [
                "id": .string(receipt.id), "expiresAt": .timestamp(receipt.expiration), "notificationId": .string(receipt.outcome.id),
            ]
        ).notifying(receipt.outcome)
    }

    // MARK: - Fetching

    private func fetch(_ id: String, _ hub: ServedHub) async throws(PushError) -> WebAnswer {
        let payload = try await services.backend(of: hub).securePayload(session, id: id)
        // The samples' clients expect a number and a string.
        return Self.answer(
            .ok,
            [
                "Id": Int64(id).map { .integer($0) } ?? .string(id), "Payload": .string(payload.string ?? payload.text()), "Read": false,
                "Content": payload,
            ])
    }

    /// Lists payloads without their content, because returning the content counts as a read.
    private func list(_ hub: ServedHub) async throws(PushError) -> WebAnswer {
        let payloads = try await services.backend(of: hub).readableSecurePayloads(session)
        let items = payloads.map { payload -> JSON in
            ["id": .string(payload.id), "from": .string(payload.sender.username), "expiresAt": .timestamp(payload.expiration)]
        }
        return Self.answer(.ok, ["items": .array(items)])
    }

    private func reads(_ id: String, _ hub: ServedHub) async throws(PushError) -> WebAnswer {
        let reads = try await services.backend(of: hub).secureReads(session, id: id)
        let items = reads.map { read -> JSON in
            ["time": .timestamp(read.time), "username": .string(read.username), "result": .string(read.result.rawValue)]
        }
        return Self.answer(.ok, ["items": .array(items)])
    }
}

extension WebAnswer {
    /// Adds the id of the sent notification.
    fileprivate func notifying(_ outcome: NotificationOutcome) -> WebAnswer {
        var answer = self
        answer.fields[.notificationID] = outcome.id
        return answer
    }
}

extension WebRequest {
    /// Whether the client asks for the created object in the response (RFC 7240, section 4.2).
    fileprivate var prefersRepresentation: Bool {
        fields.texts("prefer").contains { value in
            value.split(separator: ",").contains {
                HeaderParameters(String($0)).value.filter { $0 != " " && $0 != "\"" } == "return=representation"
            }
        }
    }
}

extension HTTPField.Name {
    // The names are valid tokens, so none of these initializers fails.
    static let notificationID = HTTPField.Name("Notification-Id") ?? .server
    static let preferenceApplied = HTTPField.Name("Preference-Applied") ?? .server
}

import HTTPTypes
import Synchronization

/// The method `projects.messages.send`.
extension FCMSimulator {
    /// Returns `{"name":"projects/<id>/messages/<message id>"}`, or an error in Google's model.
    func send(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        do {
            return answer(200, json: JSONValue(members: ["name": .string(try accept(request, body: body))]))
        } catch {
            return error.answer
        }
    }

    private func accept(_ request: HTTPRequest, body: [UInt8]) throws(FCMRefusal) -> String {
        let (path, query) = request.target
        let token = request.headerFields.bearer ?? query["access_token"] ?? query["oauth_token"]
        let (settings, grant) = state.withLock { state in (state.settings, token.flatMap { state.grants[$0] }) }
        let now = clock.now()
        guard let grant, grant.expiresAt > now else { throw .unauthenticated }
        guard request.method == .post, path == "/v1/projects/\(settings.projectID)/messages:send" else {
            throw .notFound
        }
        guard grant.maySend else { throw .scopeInsufficient }
        try check(query)
        guard let text = JSONValue(body) else { throw .badSchema("", "Invalid JSON payload received.") }
        let json = try FCMShape.request.read(text, at: "")
        guard let value = json["message"] else { throw .badField("message", "The message is not set.") }
        let message = try FCMMessage(value)
        let (phones, handle) = try addressees(of: message, settings: settings)
        if json["validate_only"]?.bool == true {
            return "projects/\(settings.projectID)/messages/fake_message_id"
        }
        let isAdmitted = state.withLock { state in
            state.messages.admit(settings.projectID, now: now, limit: settings.messagesPerMinute)
        }
        guard isAdmitted else { throw FCMRefusal(.quotaExceeded) }
        if let fault = faults.next(for: handle) { throw FCMRefusal(fault.reason, retryAfter: fault.retryAfter) }
        let id = "0:\(now * 1000)%\(random.hex(8))"
        for phone in phones {
            guard let description = lab.description(of: phone),
                message.restrictedPackage ?? description.app == description.app
            else { continue }
            lab.accept(message.parcel(id: id, for: description, now: now), for: phone)
        }
        return "projects/\(settings.projectID)/messages/\(id)"
    }

    /// Query parameters of all Google APIs (Google, "System Parameters"). Generated clients write them with a dollar sign.
    private static let systemParameters: Set<String> = [
        "access_token", "alt", "callback", "fields", "key", "oauth_token", "prettyPrint", "quotaUser", "upload_protocol", "uploadType",
        ".xgafv",
    ]

    private func check(_ query: FormBody) throws(FCMRefusal) {
        for name in query.names where !Self.systemParameters.contains(name.hasPrefix("$") ? String(name.dropFirst()) : name) {
            throw .badSchema(
                "",
                "Invalid JSON payload received. Unknown name \"\(name)\": Cannot bind query parameter. Field '\(name)' could not be "
                    + "found in request message.")
        }
    }

    /// The phones that the message is for, with the token if it is for a single one. A topic without subscribers is valid.
    private func addressees(
        of message: FCMMessage, settings: FCMSimulatorSettings
    ) throws(FCMRefusal) -> (phones: [PhoneID], handle: String?) {
        if lab.isOutOfMemory { throw .labFull }
        switch message.target {
        case .token(let token): return ([try phone(of: token, message, settings)], token)
        case .installation(let id):
            guard let token = lab.token(ofInstallation: id) else { throw FCMRefusal(.unregistered) }
            return ([try phone(of: token, message, settings)], token)
        case .topic(let topic):
            return (lab.subscribers(project: settings.projectID).filter { $0.topics.contains(topic) }.map(\.phone), nil)
        case .condition(let condition):
            return (lab.subscribers(project: settings.projectID).filter { condition.matches($0.topics) }.map(\.phone), nil)
        }
    }

    private func phone(
        of token: String, _ message: FCMMessage, _ settings: FCMSimulatorSettings
    ) throws(FCMRefusal) -> PhoneID {
        let stranger = PhoneDescription(name: token, platform: .fcm, app: message.restrictedPackage ?? settings.projectID)
        let known = lab.record(of: token, adoptingAs: stranger)
        if lab.isFull(isKnown: known != nil) { throw .labFull }
        guard let record = known, record.platform == .fcm, record.retiredAt == nil else { throw FCMRefusal(.unregistered) }
        guard record.project ?? settings.projectID == settings.projectID else { throw FCMRefusal(.senderIDMismatch) }
        return record.phone
    }
}

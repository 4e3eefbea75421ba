import PushModel

/// Documents in a PushHost's JSON API: sends, the content of plans, handles.
enum HubDocument {
    /// The request as JSON; nil if JSON cannot express it.
    static func send(_ request: NotificationRequest, at dueTime: Timestamp?) throws(PushError) -> JSON? {
        let request = try request.checked(refusingLarge: true)
        var body = JSONObject()
        switch request.audience {
        case .everyone: body["audience"] = ["broadcast": "everyone"]
        case .expression(let expression): body["audience"] = ["tagExpression": .string("\(expression)")]
        case .device, .devices: return nil
        }
        switch request.content {
        case .template(let properties):
            body["message"] = .object(JSONObject(properties.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }))
        case .native(let payloads):
            var native = JSONObject()
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key }) {
                guard let text = String(validating: payload.body, as: UTF8.self) else { return nil }
                let headers = JSONObject(payload.headers.map { ($0.name, JSON.string($0.value)) })
                native[platform.shortName] = ["payload": .string(text), "headers": .object(headers)]
            }
            body["native"] = .object(native)
        }
        body["expiresAt"] = request.options.expiration.map { .string($0.description) }
        body["priority"] = request.options.priority.map { .string($0.rawValue) }
        body["collapseId"] = request.options.collapseID.map { .string($0) }
        body["at"] = dueTime.map { .string($0.description) }
        if request.isTest { body["test"] = true }
        body["pace"] = request.pace.map { .string($0.description) }
        return .object(body)
    }

    /// Adds the content of a plan. Throws `payload.invalid` for a payload that is not text.
    static func add(_ content: NotificationContent?, to body: inout JSONObject) throws(PushError) {
        switch content {
        case nil: break
        case .template(let properties):
            body["message"] = .object(JSONObject(properties.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }))
        case .native(let payloads):
            var native = JSONObject()
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key }) {
                guard let text = String(validating: payload.body, as: UTF8.self) else {
                    throw PushError(
                        "payload.invalid", "the \(platform.displayName) payload is not text, which plans require",
                        hint: "write it as UTF-8", status: 400)
                }
                let headers = JSONObject(payload.headers.map { ($0.name, JSON.string($0.value)) })
                native[platform.shortName] = ["payload": .string(text), "headers": .object(headers)]
            }
            body["native"] = .object(native)
        }
    }

    /// A handle as an element of a list.
    static func handle(_ handle: DeviceHandle) -> JSON {
        guard case .browser(let endpoint, let p256dh, let auth) = handle else { return .string(handle.text) }
        return ["endpoint": .string(endpoint), "p256dh": .string(p256dh), "auth": .string(auth)]
    }
}

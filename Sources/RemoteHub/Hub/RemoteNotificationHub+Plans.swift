import HubWire
import NIOHTTP1
import PushModel

// Plans of a PushHost. Azure has none.
extension RemoteNotificationHub {
    package func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport {
        try requirePlans()
        var body = JSONObject()
        switch request.audience {
        case .everyone: body["audience"] = ["broadcast": "everyone"]
        case .expression(let expression): body["audience"] = ["tagExpression": .string("\(expression)")]
        case .device, .devices:
            throw PushError(
                "target.unsupported", "\(address.host) can plan for tag expressions, not for handles", hint: "name a tag expression",
                status: 400)
        }
        try add(request.content, to: &body)
        body["keep"] = .bool(request.isKept)
        if request.told > 0 { body["devices"] = .integer(Int64(min(request.told, PlanRequest.mostTold))) }
        return try report(try await details("plans", by: .POST, body: .object(body)))
    }

    package func plan(_ id: String) async throws(PushError) -> PlanReport {
        try requirePlans()
        return try report(try await details("plans/\(PercentEncoding.encode(id))"))
    }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try requirePlans()
        var body: JSONObject = [
            "audience": ["plan": .string(planned.binding.id)], "tolerance": .string(planned.binding.tolerance.description),
        ]
        try add(planned.content, to: &body)
        body["expiresAt"] = planned.options.expiration.map { .string($0.description) }
        body["priority"] = planned.options.priority.map { .string($0.rawValue) }
        body["collapseId"] = planned.options.collapseID.map { .string($0) }
        body["pace"] = planned.pace.map { .string($0.description) }
        return try await outcomeOfAccepted(try await accept(.object(body)))
    }

    private func add(_ content: NotificationContent?, to body: inout JSONObject) throws(PushError) {
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

    private func requirePlans() throws(PushError) { if !options.isPushHost { throw PushError.plansUnsupported } }

    private func report(_ json: JSON) throws(PushError) -> PlanReport {
        guard let report = PlanReport(document: json) else { throw unreadable("is not a plan") }
        return report
    }
}

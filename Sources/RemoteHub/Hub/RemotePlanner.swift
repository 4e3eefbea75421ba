import HubWire
import NIOHTTP1
import PushModel

/// The plans of a PushHost on another machine. Azure has none.
struct RemotePlanner: Sendable {
    let hub: HubClient
    let sender: RemoteSender
    let isPushHost: Bool

    func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport {
        try requirePlans()
        var body = JSONObject()
        switch request.audience {
        case .everyone: body["audience"] = ["broadcast": "everyone"]
        case .expression(let expression): body["audience"] = ["tagExpression": .string("\(expression)")]
        case .device, .devices:
            throw PushError(
                "target.unsupported", "\(hub.address.host) can plan for tag expressions, not for handles", hint: "name a tag expression",
                status: 400)
        }
        try HubDocument.add(request.content, to: &body)
        body["keep"] = .bool(request.isStored)
        if request.deviceLimit > 0 { body["devices"] = .integer(Int64(min(request.deviceLimit, PlanRequest.maximumDevices))) }
        return try report(try await hub.json("plans", by: .POST, body: .object(body)))
    }

    func plan(_ id: String) async throws(PushError) -> PlanReport {
        try requirePlans()
        return try report(try await hub.json("plans/\(PercentEncoding.encode(id))"))
    }

    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try requirePlans()
        var body: JSONObject = [
            "audience": ["plan": .string(planned.binding.id)], "tolerance": .string(planned.binding.tolerance.description),
        ]
        try HubDocument.add(planned.content, to: &body)
        body["expiresAt"] = planned.options.expiration.map { .string($0.description) }
        body["priority"] = planned.options.priority.map { .string($0.rawValue) }
        body["collapseId"] = planned.options.collapseID.map { .string($0) }
        body["pace"] = planned.pace.map { .string($0.description) }
        return try await sender.outcomes.finishAccepted(try await sender.accept(.object(body)))
    }

    private func requirePlans() throws(PushError) { if !isPushHost { throw PushError.plansUnsupported } }

    private func report(_ json: JSON) throws(PushError) -> PlanReport {
        guard let report = PlanReportDocument(json: json).report() else { throw hub.unreadable("is not a plan") }
        return report
    }
}

import HTTPTypes
import PushHub
import PushModel

/// Routes for sends awaiting approval.
enum ApprovalManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get(
                "/api/v1/approvals", "listApprovals",
                "Sends that await or awaited approval, latest first; a key without Manage sees only its own requests"),
            .server(.send),
            [
                .query("state", .choice("Only requests in this state", Approval.State.allCases.map(\.rawValue))), .top,
                .continuation("[0-9]{1,18}"),
            ], answer: .ok("A page of approvals", .page(of: approval))
        ) { call async throws(PushError) in
            let found = try await call.sendGuard.decisions.approvals(
                of: call.requester, before: call.text("continuation").flatMap { Int64($0) }, limit: call.top + 1,
                state: call.text("state").flatMap { Approval.State(rawValue: $0) })
            let shown = found.prefix(call.top)
            return call.list(
                shown.map { $0.json() }, continuation: found.count > shown.count ? shown.last.map { String($0.number) } : nil)
        },
        ManagementRoute(
            .get("/api/v1/approvals/{id}", "getApproval", "One approval request, with the content to send"),
            .server(.send), answer: .ok("The approval", approval)
        ) { call async throws(PushError) in
            call.answer(try await call.sendGuard.decisions.approval(call.name("id"), of: call.requester).json(withContent: true))
        },
        ManagementRoute(
            .post("/api/v1/approvals/{id}/approve", "approve", "Approve a send, which goes out once; requesters cannot approve their own"),
            .server(.manage), body: decision, answer: .ok("The approval, with the notification", approval), refusals: [403, 409]
        ) { call async throws(PushError) in
            let approval = try await call.sendGuard.decisions.approve(
                call.name("id"), by: call.principal, reason: call.body["reason"]?.string, call.namespace.service(ofHub:))
            return call.answer(approval.json())
        },
        ManagementRoute(
            .post(
                "/api/v1/approvals/{id}/deny", "deny",
                "Deny a send, or withdraw your own request; the record stays, the content is deleted"),
            .server(.send), body: decision, answer: .ok("The approval", approval), refusals: [403, 409]
        ) { call async throws(PushError) in
            let approval = try await call.sendGuard.decisions.deny(
                call.name("id"), of: call.requester, by: call.principal, reason: call.body["reason"]?.string)
            return call.answer(approval.json())
        },
    ]

    private static let decision = JSONSchema.object(
        "Decision", ["reason?": .text("For the record", length: 1...SendGuard.maximumNoteLength)])

    private static let approval = JSONSchema.object(
        "Approval",
        [
            "id": .text(), "state": .choice(nil, Approval.State.allCases.map(\.rawValue)), "hub": .text(),
            "requestedBy": .text("The requester"),
            "devices": .integer("Devices it reached when requested or last counted"),
            "platforms": .map("Devices by platform", of: .integer()), "ceiling": .integer("Maximum number of devices without approval"),
            "isReachUnknown?": .boolean("Whether it goes to an APNs broadcast channel, which counts as one device"),
            "why": .text("Description of the ceiling that applies"), "audience": .text("Description of the audience"),
            "content": .text("Description of the content, with sizes"),
            "note?": .text("In the sender's words"), "createdAt": .timestamp(), "expiresAt": .timestamp("When the request expires"),
            "at?": .timestamp("Due time; absent: upon approval"), "decidedBy?": .text(), "decidedAt?": .timestamp(),
            "reason?": .text(), "notificationId?": .text("The id of the notification sent"),
            "failure?": .text("Why the hub rejected the send"),
            "message?": .map("The properties for templates; only for a single pending request", of: .text()),
            "native?": .map("The payloads for the push services; only for a single pending request", of: .text()),
        ])
}

extension ManagementCall {
    /// The requester whose requests the caller may see; nil: all.
    fileprivate var requester: Principal? { rule.allows(.manage) ? nil : principal }

    /// Throws `request.path` (404) if the server requires no approvals.
    fileprivate var sendGuard: SendGuard {
        get throws(PushError) {
            guard let sendGuard = access.sendGuard else {
                throw PushError("request.path", "this server has no approvals", hint: "use a server that has them", status: 404)
            }
            return sendGuard
        }
    }
}

extension Approval {
    fileprivate func json(withContent: Bool = false) -> JSON {
        let platforms = reach.platforms.sorted { $0.key < $1.key }.map { ($0.key.shortName, JSON.count($0.value)) }
        return .members([
            "id": .string(id), "state": .string(state.rawValue), "hub": .string(hub.name),
            "requestedBy": .string(origin.requesterDescription),
            "devices": .count(reach.devices), "platforms": .object(JSONObject(platforms)), "ceiling": .count(ceiling.devices),
            "isReachUnknown": reach.isUnknown ? .bool(true) : nil, "why": .string(scope.why), "audience": .string(scope.audience),
            "content": .string(scope.content), "note": note.map { .string($0) }, "createdAt": .timestamp(origin.createdAt),
            "expiresAt": .timestamp(expiresAt),
            "at": scope.dueAt.map { .timestamp($0) }, "decidedBy": decision.map { .string($0.principal.description) },
            "decidedAt": decision.map { .timestamp($0.time) }, "reason": decision?.reason.map { .string($0) },
            "notificationId": notificationID.map { .string($0) }, "failure": failure.map { .string($0) },
            "message": withContent ? request?.messageJSON : nil,
            "native": withContent ? request?.nativeJSON : nil,
        ])
    }
}

extension NotificationRequest {
    fileprivate var messageJSON: JSON? {
        guard case .template(let properties) = content else { return nil }
        return .object(JSONObject(properties.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    fileprivate var nativeJSON: JSON? {
        guard case .native(let payloads) = content else { return nil }
        let texts = payloads.sorted { $0.key < $1.key }.map {
            ($0.key.shortName, JSON.string(String(decoding: $0.value.body, as: UTF8.self)))
        }
        return .object(JSONObject(texts))
    }
}

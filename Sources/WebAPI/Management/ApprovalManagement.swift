import HTTPTypes
import PushCore

// Sends that wait for somebody else's leave.
extension ManagementRoute {
    static let approvals: [ManagementRoute] = [
        ManagementRoute(
            .get, "/api/v1/approvals", "listApprovals",
            "Sends that wait for somebody's leave, or have waited, the latest first; without Manage those alone that the key has asked for",
            .server, .send,
            [
                Parameter(name: "state", schema: .choice("Only those", Approval.State.allCases.map(\.rawValue))), .top,
                .continuation("[0-9]{1,18}"),
            ], answer: .ok("A page of approvals", .page(of: approval))
        ) { call async throws(PushError) in
            let found = try await call.sendGuard.approvals(
                of: call.asker, before: call.text("continuation").flatMap { Int64($0) }, limit: call.top + 1,
                state: call.text("state").flatMap { Approval.State(rawValue: $0) })
            let shown = found.prefix(call.top)
            return call.list(
                shown.map { $0.json() }, continuation: found.count > shown.count ? shown.last.map { String($0.number) } : nil)
        },
        ManagementRoute(
            .get, "/api/v1/approvals/{id}", "getApproval", "One of them, with what would be sent", .server, .send,
            answer: .ok("The approval", approval)
        ) { call async throws(PushError) in
            call.answer(try await call.sendGuard.approval(call.name("id"), of: call.asker).json(withContent: true))
        },
        ManagementRoute(
            .post, "/api/v1/approvals/{id}/approve", "approve", "Allow a send, which goes out once, and not by leave of who asked for it",
            .server, .manage, body: decision, answer: .ok("The approval, with the notification", approval), refusals: [403, 409]
        ) { call async throws(PushError) in
            let approval = try await call.sendGuard.approve(
                call.name("id"), by: call.principal, reason: call.body["reason"]?.string, call.namespace.service(ofHub:))
            return call.answer(approval.json())
        },
        ManagementRoute(
            .post, "/api/v1/approvals/{id}/deny", "deny",
            "Deny a send, or take back what the key has asked for; its record stays, what it says does not", .server, .send,
            body: decision, answer: .ok("The approval", approval), refusals: [403, 409]
        ) { call async throws(PushError) in
            let approval = try await call.sendGuard.deny(
                call.name("id"), of: call.asker, by: call.principal, reason: call.body["reason"]?.string)
            return call.answer(approval.json())
        },
    ]

    private static let decision = JSONSchema.object(
        "Decision", ["reason?": .text("For the record", length: 1...SendGuard.longestNote)])

    private static let approval = JSONSchema.object(
        "Approval",
        [
            "id": .text(), "state": .choice(nil, Approval.State.allCases.map(\.rawValue)), "hub": .text(),
            "requestedBy": .text("Who asked for it"),
            "devices": .integer("How many it reached when it was asked for, or looked at last"),
            "platforms": .map("The same by platform", of: .integer()), "ceiling": .integer("Most without leave"),
            "isReachUnknown?": .boolean("Whether it goes to a broadcast channel of APNs, which counts as one device"),
            "why": .text("Whose ceiling that is, in words"), "audience": .text("In words"),
            "content": .text("What is sent, in words, with sizes"),
            "note?": .text("In the sender's words"), "createdAt": .moment(), "expiresAt": .moment("When it waits no more"),
            "at?": .moment("When it is to go out; absent: as soon as it is allowed"), "decidedBy?": .text(), "decidedAt?": .moment(),
            "reason?": .text(), "notificationId?": .text("As which it was sent"),
            "failure?": .text("Why the hub did not take it"),
            "message?": .map("The properties that fill the templates; of one that waits, where it is asked for alone", of: .text()),
            "native?": .map("What the push services would get, the same", of: .text()),
        ])
}

extension ManagementCall {
    /// Whose requests the call may see; nil for those of all.
    fileprivate var asker: Principal? { rule.allows(.manage) ? nil : principal }

    /// Throws `request.path` (404) where nothing waits for leave.
    fileprivate var sendGuard: SendGuard {
        get throws(PushError) {
            guard let sendGuard = access.sendGuard else {
                throw PushError("request.path", "nothing waits for leave on this server", hint: "ask one that does", status: 404)
            }
            return sendGuard
        }
    }
}

extension Approval {
    fileprivate func json(withContent: Bool = false) -> JSON {
        let platforms = reach.platforms.sorted { $0.key < $1.key }.map { ($0.key.shortName, JSON.count($0.value)) }
        return .members([
            "id": .string(id), "state": .string(state.rawValue), "hub": .string(hub.name), "requestedBy": .string(requesterInWords),
            "devices": .count(reach.devices), "platforms": .object(JSONObject(platforms)), "ceiling": .count(ceiling.devices),
            "isReachUnknown": reach.isUnknown ? .bool(true) : nil, "why": .string(why), "audience": .string(audience),
            "content": .string(content),
            "note": note.map { .string($0) }, "createdAt": .moment(createdAt), "expiresAt": .moment(expiresAt),
            "at": moment.map { .moment($0) }, "decidedBy": decision.map { .string($0.principal.description) },
            "decidedAt": decision.map { .moment($0.time) }, "reason": decision?.reason.map { .string($0) },
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

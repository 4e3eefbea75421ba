import PushModel

/// A stored approval. What has no column of its own is JSON:
///
/// `{"hub": "news", "created": 1, "sendKey": "…", "audience": "everyone", "content": "…", "ceiling": [1000, "key:ops"],
///  "reach": {"apns": 12}, "isReachUnknown": true, "note": "…", "moment": 1,
///  "decision": {"by": "owner", "at": 1, "reason": "…"}, "notification": "…"}`
struct ApprovalRow {
    /// The columns that `init(_:)` reads.
    static let columns = "number, hub, state, requester, fingerprint, idempotency_key, expires_at, content, request"

    let approval: Approval

    init(_ approval: Approval) { self.approval = approval }

    init(_ row: some SQLRow) throws {
        approval = try reading("the approval \(Approval.id(row.integer(0)))") {
            let json = try row.json(7)
            var approval = Approval(
                number: row.integer(0), state: try Approval.State(stored: row.text(2)),
                origin: Approval.Origin(
                    hub: Approval.Hub(number: row.integer(1), name: try json.required("hub").storedText()),
                    requester: try Principal(stored: row.text(3)),
                    behalf: try json["behalf"].map { try Principal(stored: $0.storedText()) }, note: try json["note"]?.storedText(),
                    createdAt: Timestamp(milliseconds: try json.required("created").storedInteger())),
                expiresAt: row.time(6),
                keys: Approval.Keys(
                    fingerprint: row.bytes(4), idempotencyKey: row.optional(5, row.text),
                    sendKey: try json.required("sendKey").storedText()),
                scope: try Approval.Scope(stored: json),
                request: try row.optional(8) { try NotificationRequest(stored: row.json($0)) },
                decision: try json["decision"].map { try Approval.Decision(stored: $0) })
            approval.notificationID = try json["notification"]?.storedText()
            approval.failure = try json["failure"]?.storedText()
            return approval
        }
    }

    var content: JSON {
        let (origin, scope) = (approval.origin, approval.scope)
        var object: JSONObject = [
            "hub": .string(origin.hub.name), "created": .integer(origin.createdAt.milliseconds),
            "sendKey": .string(approval.keys.sendKey), "audience": .string(scope.audience), "content": .string(scope.content),
            "ceiling": .array(
                [.integer(Int64(scope.ceiling.devices))] + (scope.ceiling.owner.map { [.string($0.description)] } ?? [])),
            "reach": .object(
                JSONObject(scope.reach.platforms.sorted { $0.key < $1.key }.map { ($0.key.rawValue, .integer(Int64($0.value))) })),
        ]
        if let behalf = origin.behalf { object.append("behalf", .string(behalf.description)) }
        if scope.reach.isUnknown { object.append("isReachUnknown", .bool(true)) }
        if let note = origin.note { object.append("note", .string(note)) }
        if let dueAt = scope.dueAt { object.append("moment", .integer(dueAt.milliseconds)) }
        if let decision = approval.decision {
            var members: JSONObject = ["by": .string(decision.principal.description), "at": .integer(decision.time.milliseconds)]
            if let reason = decision.reason { members.append("reason", .string(reason)) }
            object.append("decision", .object(members))
        }
        if let notificationID = approval.notificationID { object.append("notification", .string(notificationID)) }
        if let failure = approval.failure { object.append("failure", .string(failure)) }
        return .object(object)
    }

    /// The send that is to be approved; nil if it is no longer stored.
    var request: JSON? { approval.request?.storedJSON }
}

extension Approval.Scope {
    fileprivate init(stored json: JSON) throws {
        let ceiling = try json.required("ceiling").storedArray()
        guard ceiling.count == 1 || ceiling.count == 2 else {
            throw UnreadableValue(reason: "its ceiling has \(ceiling.count) values, not 1 or 2")
        }
        var reach = AudienceReach(isUnknown: json["isReachUnknown"]?.bool ?? false)
        for (platform, count) in try json.required("reach").storedObject().members {
            reach.platforms[try Platform(stored: platform)] = Int(try count.storedInteger())
        }
        self.init(
            dueAt: try json["moment"].map { Timestamp(milliseconds: try $0.storedInteger()) },
            audience: try json.required("audience").storedText(), content: try json.required("content").storedText(),
            ceiling: Approval.Ceiling(
                devices: Int(try ceiling[0].storedInteger()),
                owner: try ceiling.dropFirst().first.map { try Principal(stored: $0.storedText()) }),
            reach: reach)
    }
}

extension Approval.Decision {
    fileprivate init(stored json: JSON) throws {
        self.init(
            principal: try Principal(stored: try json.required("by").storedText()),
            time: Timestamp(milliseconds: try json.required("at").storedInteger()), reason: try json["reason"]?.storedText())
    }
}

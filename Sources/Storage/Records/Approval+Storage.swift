import PushModel

/// `{"hub": "news", "created": 1, "sendKey": "…", "audience": "everyone", "content": "…", "ceiling": [1000, "key:ops"],
///  "reach": {"apns": 12}, "isReachUnknown": true, "note": "…", "moment": 1, "decision": {"by": "owner", "at": 1, "reason": "…"}, "notification": "…"}`
extension Approval {
    var storedJSON: JSON {
        var object: JSONObject = [
            "hub": .string(hub.name), "created": .integer(createdAt.milliseconds), "sendKey": .string(sendKey),
            "audience": .string(audience), "content": .string(content),
            "ceiling": .array([.integer(Int64(ceiling.devices))] + (ceiling.owner.map { [.string($0.description)] } ?? [])),
            "reach": .object(
                JSONObject(reach.platforms.sorted { $0.key < $1.key }.map { ($0.key.rawValue, .integer(Int64($0.value))) })),
        ]
        if let behalf { object.append("behalf", .string(behalf.description)) }
        if reach.isUnknown { object.append("isReachUnknown", .bool(true)) }
        if let note { object.append("note", .string(note)) }
        if let moment { object.append("moment", .integer(moment.milliseconds)) }
        if let decision {
            var members: JSONObject = ["by": .string(decision.principal.description), "at": .integer(decision.time.milliseconds)]
            if let reason = decision.reason { members.append("reason", .string(reason)) }
            object.append("decision", .object(members))
        }
        if let notificationID { object.append("notification", .string(notificationID)) }
        if let failure { object.append("failure", .string(failure)) }
        return .object(object)
    }

    init(
        number: Int64, hub: Int64, state: String, requester: String, fingerprint: [UInt8], idempotencyKey: String?, expiresAt: Timestamp,
        stored json: JSON, request: NotificationRequest?
    ) throws {
        let ceiling = try json.required("ceiling").storedArray()
        guard ceiling.count == 1 || ceiling.count == 2 else {
            throw UnreadableValue(reason: "its ceiling has \(ceiling.count) values, not 1 or 2")
        }
        var reach = AudienceReach(isUnknown: json["isReachUnknown"]?.bool ?? false)
        for (platform, count) in try json.required("reach").storedObject().members {
            reach.platforms[try Platform(stored: platform)] = Int(try count.storedInteger())
        }
        self.init(
            number: number, state: try State(stored: state), hub: Hub(number: hub, name: try json.required("hub").storedText()),
            requester: try Principal(stored: requester), note: try json["note"]?.storedText(),
            moment: try json["moment"].map { Timestamp(milliseconds: try $0.storedInteger()) },
            createdAt: Timestamp(milliseconds: try json.required("created").storedInteger()), expiresAt: expiresAt,
            fingerprint: fingerprint, idempotencyKey: idempotencyKey, sendKey: try json.required("sendKey").storedText(),
            audience: try json.required("audience").storedText(), content: try json.required("content").storedText(),
            ceiling: Ceiling(
                devices: Int(try ceiling[0].storedInteger()),
                owner: try ceiling.dropFirst().first.map { try Principal(stored: $0.storedText()) }),
            reach: reach, request: request,
            decision: try json["decision"].map { decision in
                Decision(
                    principal: try Principal(stored: try decision.required("by").storedText()),
                    time: Timestamp(milliseconds: try decision.required("at").storedInteger()),
                    reason: try decision["reason"]?.storedText())
            }, notificationID: try json["notification"]?.storedText())
        failure = try json["failure"]?.storedText()
        behalf = try json["behalf"].map { try Principal(stored: $0.storedText()) }
    }
}

extension Principal {
    init(stored text: String) throws {
        guard let principal = Principal(text) else { throw UnreadableValue(reason: "unknown principal \"\(text)\"") }
        self = principal
    }
}

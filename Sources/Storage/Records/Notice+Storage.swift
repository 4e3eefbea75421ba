import PushModel

/// `{"kind": "deferred", "devices": 2, "until": 1767607200000, "reason": "quiet: asleep"}`; free text as a string.
extension Notice {
    private var kind: Kind? {
        switch self {
        case .deferred: .deferred
        case .exceededApproval: .exceededApproval
        case .planLost: .planLost
        case .wrongEnvironment: .wrongEnvironment
        case .heldRemovals: .heldRemovals
        case .planned: .planned
        case .text: nil
        }
    }

    var storedJSON: JSON {
        guard let kind else { return .string(text) }
        var object = JSONObject()
        object.append("kind", .string(kind.rawValue))
        switch self {
        case .deferred(let devices, let time, let reason):
            object.append("devices", .integer(Int64(devices)))
            if let time { object.append("until", .integer(time.milliseconds)) }
            object.append("reason", .string(reason))
        case .exceededApproval(let reach, let approved):
            if let reach { object.append("devices", .integer(Int64(reach))) }
            object.append("approved", approved.storedJSON)
        case .planLost(let plan): object.append("plan", .string(plan))
        case .wrongEnvironment(let platform, let advice):
            object.append("platform", .string(platform.rawValue))
            object.append("advice", .string(advice))
        case .heldRemovals(let percent): object.append("percent", .integer(Int64(percent)))
        case .planned(let devices): object.append("devices", .integer(Int64(devices)))
        case .text: break
        }
        return .object(object)
    }

    init(stored json: JSON) throws {
        guard json.string == nil else {
            self = .text(try json.storedText())
            return
        }
        let name = try json.required("kind").storedText()
        switch Kind(rawValue: name) {
        case .deferred:
            self = .deferred(
                devices: Int(try json.required("devices").storedInteger()),
                until: try json["until"].map { Timestamp(milliseconds: try $0.storedInteger()) },
                reason: try json.required("reason").storedText())
        case .exceededApproval:
            self = .exceededApproval(
                reach: try json["devices"].map { Int(try $0.storedInteger()) }, try ApprovedReach(stored: json.required("approved")))
        case .planLost: self = .planLost(plan: try json.required("plan").storedText())
        case .wrongEnvironment:
            self = .wrongEnvironment(
                try Platform(stored: json.required("platform").storedText()), advice: try json.required("advice").storedText())
        case .heldRemovals: self = .heldRemovals(percent: Int(try json.required("percent").storedInteger()))
        case .planned: self = .planned(devices: Int(try json.required("devices").storedInteger()))
        case nil: throw UnreadableValue(reason: "\"\(name)\" is an unknown kind of notice")
        }
    }
}

/// `{"devices": 17, "approval": "a-1"}`, `{"devices": 1000, "ceilingOf": "key:ops"}`, or `{"devices": 1000}` for the server's ceiling.
extension ApprovedReach {
    var storedJSON: JSON {
        var object = JSONObject()
        object.append("devices", .integer(Int64(devices)))
        switch basis {
        case .approval(let id): object.append("approval", .string(id))
        case .ceiling(let owner?): object.append("ceilingOf", .string(owner.description))
        case .ceiling(nil): break
        }
        return .object(object)
    }

    init(stored json: JSON) throws {
        let basis: Basis =
            if let id = json["approval"] {
                .approval(try id.storedText())
            } else {
                .ceiling(of: try json["ceilingOf"].map { try Principal(stored: $0.storedText()) })
            }
        self.init(devices: Int(try json.required("devices").storedInteger()), basis: basis)
    }
}

import FoundationEssentials
import PushModel

/// `{"tags": "a && b", "native": {"apns": {"text": "{…}", "headers": [["apns-priority", "5"]]}}, "priority": "high"}`
///
/// One of `tags`, `device`, `devices` and `everyone`; one of `native` and `template`. A body that is not UTF-8 is `bytes` in base64.
extension NotificationRequest {
    var storedJSON: JSON {
        var object = JSONObject()
        audience.store(in: &object)
        content.store(in: &object)
        if let expiration = options.expiration { object.append("expiration", .integer(expiration.milliseconds)) }
        if let priority = options.priority { object.append("priority", .string(priority.rawValue)) }
        if let collapseID = options.collapseID { object.append("collapse", .string(collapseID)) }
        if isTest { object.append("test", true) }
        if let pace { object.append("pace", .string(pace.description)) }
        if let plan {
            object.append("plan", .string(plan.id))
            if plan.tolerance != .none { object.append("tolerance", .string(plan.tolerance.description)) }
        }
        if let approvedReach { object.append("approvedReach", approvedReach.storedJSON) }
        return .object(object)
    }

    init(stored json: JSON) throws {
        var options = PushOptions()
        options.expiration = try json["expiration"].map { Timestamp(milliseconds: try $0.storedInteger()) }
        options.priority = try json["priority"].map { try PushOptions.Priority(stored: $0.storedText()) }
        options.collapseID = try json["collapse"]?.storedText()
        self.init(
            audience: try Audience(stored: json), content: try NotificationContent(stored: json), options: options,
            isTest: json["test"] == true, pace: try json["pace"].map { try Pace(stored: $0.storedText()) },
            plan: try json["plan"].map { PlanBinding(try $0.storedText(), tolerance: try DriftTolerance(stored: json["tolerance"])) })
        approvedReach = try json["approvedReach"].map { try ApprovedReach(stored: $0) }
    }

    /// The number of the plan that the request is bound to.
    var planNumber: Int64? { plan.flatMap { PlanID.number(of: $0.id) } }
}

extension DriftTolerance {
    fileprivate init(stored json: JSON?) throws {
        guard let json else {
            self = .none
            return
        }
        do {
            try self.init(json.storedText())
        } catch let error as PushError {
            throw UnreadableValue(reason: error.message)
        }
    }
}

extension Pace {
    fileprivate init(stored text: String) throws {
        do {
            try self.init(text)
        } catch {
            throw UnreadableValue(reason: error.message)
        }
    }
}

extension Audience {
    func store(in object: inout JSONObject) {
        switch self {
        case .expression(let expression): object.append("tags", .string(expression.description))
        case .everyone: object.append("everyone", true)
        case .device(let handle): object.append("device", handle.storedJSON)
        case .devices(let handles): object.append("devices", .array(handles.map(\.storedJSON)))
        }
    }

    init(stored json: JSON) throws {
        if let tags = json["tags"] {
            let text = try tags.storedText()
            guard let expression = try? TagExpression(parsing: text) else {
                throw UnreadableValue(reason: "invalid tag expression \"\(text)\"")
            }
            self = .expression(expression)
        } else if let device = json["device"] {
            self = .device(try DeviceHandle(stored: device))
        } else if let devices = json["devices"] {
            self = .devices(try devices.storedArray().map { try DeviceHandle(stored: $0) })
        } else if json["everyone"] == true {
            self = .everyone
        } else {
            throw UnreadableValue(reason: "it has no audience")
        }
    }
}

extension NotificationContent {
    func store(in object: inout JSONObject) {
        switch self {
        case .template(let properties): object.append("template", JSON(properties))
        case .native(let payloads):
            object.append("native", .object(JSONObject(payloads.map { ($0.key.rawValue, $0.value.storedJSON) })))
        }
    }

    init(stored json: JSON) throws {
        if let properties = json["template"] {
            self = .template(try properties.storedTexts())
            return
        }
        var payloads: [Platform: NativePayload] = [:]
        for (platform, payload) in try json.required("native").storedObject().members {
            payloads[try Platform(stored: platform)] = try NativePayload(stored: payload)
        }
        self = .native(payloads)
    }
}

extension NativePayload {
    fileprivate var storedJSON: JSON {
        var object = JSONObject()
        if let text = String(validating: body, as: UTF8.self) {
            object.append("text", .string(text))
        } else {
            object.append("bytes", .string(Data(body).base64EncodedString()))
        }
        if !headers.isEmpty { object.append("headers", JSON(headers)) }
        return .object(object)
    }

    fileprivate init(stored json: JSON) throws {
        let headers = try json["headers"]?.storedHeaders() ?? []
        if let text = json["text"] {
            self.init(body: Array(try text.storedText().utf8), headers: headers)
        } else {
            guard let bytes = Data(base64Encoded: try json.required("bytes").storedText()) else {
                throw UnreadableValue(reason: "a body is not base64")
            }
            self.init(body: Array(bytes), headers: headers)
        }
    }
}

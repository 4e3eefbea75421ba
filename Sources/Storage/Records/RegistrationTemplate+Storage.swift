import PushModel

/// `{"platform": "wns", "name": "toast", "body": "<toast/>", "headers": [["X-WNS-Type", "wns/toast"]]}`
extension RegistrationTemplate {
    var storedJSON: JSON {
        var object: JSONObject = ["platform": .string(platform.rawValue), "body": .string(body)]
        if let name { object.append("name", .string(name)) }
        if !headers.isEmpty { object.append("headers", JSON(headers)) }
        if let expiry { object.append("expiry", .string(expiry)) }
        if let priority { object.append("priority", .string(priority)) }
        return .object(object)
    }

    /// Also compiles the template.
    init(stored json: JSON) throws {
        try self.init(
            name: try json["name"]?.storedText(), body: try json.required("body").storedText(),
            headers: try json["headers"]?.storedHeaders() ?? [], expiry: try json["expiry"]?.storedText(),
            priority: try json["priority"]?.storedText(),
            platform: try Platform(stored: json.required("platform").storedText()))
    }
}

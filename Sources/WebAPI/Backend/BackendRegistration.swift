import HubWire
import PushBackend
import PushModel

extension Platform {
    /// Parses the tutorials' platform names, case-insensitively: `apns`, `fcm`, `fcmv1`, `gcm`, `wns`, `mpns`. Throws `request.parameter`.
    init(pns name: String) throws(PushError) {
        let word = name.lowercased()
        guard let platform = word == "fcm" ? .fcmV1 : Platform(rawValue: word) else {
            let known = ["apns", "fcm", "fcmv1", "gcm", "wns", "mpns", "browser"]
            throw PushError(
                "request.parameter", "unknown platform \"\(name)\"",
                hint: nearest(word, in: known).map { "did you mean \"\($0)\"?" } ?? "known platforms: \(known.joined(separator: ", "))",
                status: 400)
        }
        self = platform
    }
}

extension DeviceHandle {
    /// The possible handles for a text, for a client that does not name the platform. Throws `handle.invalid` if there is none.
    static func candidates(_ text: String) throws(PushError) -> [DeviceHandle] {
        let found = Platform.allCases.compactMap { try? DeviceHandle(platform: $0, text: text) }
        return found.isEmpty ? [try DeviceHandle(platform: .fcmV1, text: text)] : found
    }

    /// Reads a device in the form of the 2013 tutorials: its platform, and its token or channel URI. Besides `ios` and `windows`, platforms
    /// have their own names.
    init(current members: BackendBody.Members) throws(PushError) {
        let name = try members.text("platform")
        guard let platform = Platform(name: name) else {
            throw BackendBody.refusal("unknown platform \"\(name)\"", "write ios, windows, android, gcm or browser")
        }
        let names = platform == .wns ? ["channelUri", "deviceToken"] : ["deviceToken", "channelUri"]
        guard let name = names.first(where: { members[$0] != nil }) else {
            throw BackendBody.refusal("the body has no \(names[0])", "add the handle that the app got from the push service")
        }
        try self.init(platform: platform, json: members[name], name)
    }

    /// Reads a handle. A browser's can be an object or a string.
    init(platform: Platform, json: JSON?, _ name: String) throws(PushError) {
        if platform == .browser, let subscription = json, subscription.object != nil {
            try self.init(subscription: subscription)
            return
        }
        guard let text = json?.string else { throw BackendBody.refusal("\(name) is not a string", "write it in quotes") }
        try self.init(platform: platform, text: text)
    }

    /// The handle as sent at registration; for a browser, the JSON text of its subscription.
    fileprivate var given: String {
        guard case .browser(let endpoint, let key, let secret) = self else { return text }
        let subscription: JSON = ["endpoint": .string(endpoint), "p256dh": .string(key), "auth": .string(secret)]
        return subscription.text()
    }
}

extension RegistrationDescription {
    /// Reads `{"Platform", "Handle", "Tags"}` and PushHost's extension `"Template": {"body", "name", "headers", "expiry"}`.
    /// - Parameter isTemplate: Whether a device without a template gets the one from the tutorial "cross-platform notify users".
    init(_ members: BackendBody.Members, isTemplate: Bool) throws(PushError) {
        try members.check(["Platform", "Handle", "Tags", "Template"])
        let platform = try Platform(pns: members.text("Platform"))
        let handle = try DeviceHandle(platform: platform, json: members["Handle"], "Handle")
        self.init(handle: handle, tags: try [Tag](members.texts("Tags")))
        if let json = members["Template"] {
            guard let object = json.object else {
                throw BackendBody.refusal("Template is not an object", "write {\"body\": \"…\"}")
            }
            template = try RegistrationTemplate(BackendBody.Members(object), platform: platform)
        } else if isTemplate {
            template = try RegistrationTemplate(body: AlertPayloads.greetingTemplate(platform), platform: platform)
        }
    }
}

extension RegistrationTemplate {
    fileprivate init(_ members: BackendBody.Members, platform: Platform) throws(PushError) {
        try members.check(["body", "name", "headers", "expiry"])
        var headers: [PushHeader] = []
        if let json = members["headers"] {
            guard let object = json.object else { throw BackendBody.refusal("headers is not an object", "write {\"NAME\": \"VALUE\"}") }
            for (name, value) in object.members {
                guard let text = value.string else { throw BackendBody.refusal("the header \(name) is not a string", "write it in quotes") }
                headers.append(PushHeader(name, text))
            }
        }
        try self.init(
            name: members.optionalText("name"), body: members.text("body"), headers: headers, expiry: members.optionalText("expiry"),
            platform: platform)
    }

    fileprivate var document: JSON {
        .members([
            "Name": name.map { .string($0) }, "Body": .string(body),
            "Headers": .object(JSONObject(headers.map { ($0.name, .string($0.value)) })), "Expiry": expiry.map { .string($0) },
        ])
    }
}

extension Registration {
    /// The registration with the member names of the samples' library, and the platform and handle as sent.
    var document: JSON {
        var members: JSONObject = [
            "RegistrationId": .string(id.text), "ETag": .string(String(etag)), "ExpirationTime": .timestamp(expiration),
            "UpdatedAt": .timestamp(updatedAt), "Tags": .array(tags.map { .string($0.text) }),
        ]
        if let names = RegistrationElement.of(platform)?.handle, names.count == 1 { members[names[0]] = .string(handle.text) }
        members["Platform"] = .string(platform.rawValue)
        members["Handle"] = .string(handle.given)
        if let template { members["Template"] = template.document }
        return .object(members)
    }
}

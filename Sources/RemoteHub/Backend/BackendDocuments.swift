import PushModel

// JSON documents of the app backend.
extension Platform {
    /// The platform's name in `Platform` and `pns`, as in the backend of Azure's tutorials.
    var backendName: String { self == .fcmV1 ? "fcmv1" : shortName }
}

extension DeviceHandle {
    /// The handle as one string; for a browser, the JSON of its subscription.
    var backendText: String { if case .browser = self { HubDocument.handle(self).text() } else { text } }
}

extension RegistrationTemplate {
    var json: JSON {
        var object = JSONObject([("body", JSON.string(body))])
        if let name { object.append("name", .string(name)) }
        if !headers.isEmpty { object.append("headers", .object(JSONObject(headers.map { ($0.name, JSON.string($0.value)) }))) }
        if let expiry { object.append("expiry", .string(expiry)) }
        return .object(object)
    }
}

extension Registration {
    /// Reads the backend's response for a new registration: `RegistrationId`, `ETag`, `ExpirationTime`, `Tags`.
    ///
    /// - Parameter sent: The description sent, for members that the response omits.
    /// Throws `target.answer`.
    init(backend json: JSON, _ sent: RegistrationDescription) throws(PushError) {
        func member(_ name: String) -> JSON? {
            json[name] ?? json.object?.members.first { $0.key.lowercased() == name.lowercased() }?.value
        }
        guard let id = member("RegistrationId")?.string.flatMap({ RegistrationID($0) }) else {
            throw PushError(
                "target.answer", "the backend's response has no RegistrationId", hint: "check the address with --backend")
        }
        let etag = member("ETag")?.int ?? member("ETag")?.string.flatMap { Int($0) } ?? 1
        let expiration = member("ExpirationTime")?.string.flatMap { Timestamp(date: $0) } ?? .distantFuture
        let texts = member("Tags")?.array?.compactMap(\.string) ?? sent.tags.map(\.text)
        self.init(
            id: id, etag: etag, expiration: expiration, updatedAt: Timestamp(milliseconds: 0),
            description: RegistrationDescription(
                handle: sent.handle, tags: texts.compactMap { Tag(validating: $0) }, template: sent.template,
                pushVariables: sent.pushVariables))
    }
}

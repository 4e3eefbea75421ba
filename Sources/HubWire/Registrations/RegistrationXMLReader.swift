package import PushModel

/// Reads registrations from the hub's XML: requests, responses, and lists.
package enum RegistrationXMLReader {
    /// Maximum size of a registration's body, in bytes.
    package static let maximumSize = 256 << 10

    // MARK: - Requests

    /// Reads the body of `POST registrations` and `PUT registrations/{id}`: an Atom entry around a description, or a description.
    ///
    /// Throws `xml.*`, `registration.invalid` (400), and the errors of an invalid handle, tag or template.
    package static func description(body: [UInt8]) throws(PushError) -> RegistrationDescription {
        try description(AtomEntry.description(in: body, limit: maximumSize))
    }

    /// Reads `<AppleRegistrationDescription>` and similar elements, and `<RegistrationDescription i:type="AppleRegistrationDescription">`,
    /// with members in any order. Id, ETag and expiration are set by the hub and ignored here.
    package static func description(_ element: XMLElement) throws(PushError) -> RegistrationDescription {
        var name = element.name
        if name == RegistrationElement.suffix, let type = element.attribute("type") {
            name = type.split(separator: ":").last.map(String.init) ?? type
        }
        guard let (kind, isTemplate) = RegistrationElement.named(name) else {
            throw PushError(
                "registration.invalid", "unknown registration type \"\(name)\"",
                hint: "send one of "
                    + RegistrationElement.all.map { $0.name(isTemplate: false) }.joined(separator: ", ")
                    + ", or the same with Template before Registration", status: 400)
        }
        return RegistrationDescription(
            handle: try kind.handle(of: element), tags: try tags(element.text(of: "Tags") ?? ""),
            template: isTemplate ? try kind.template(of: element) : nil,
            pushVariables: try pushVariables(element.text(of: "PushVariables") ?? ""),
            secondaryTile: [.wns, .mpns].contains(kind.platform) ? element.text(of: "SecondaryTileName")?.nonEmpty : nil)
    }

    /// Parses tags separated by commas with optional blanks.
    private static func tags(_ text: String) throws(PushError) -> [Tag] {
        var tags: [Tag] = []
        for part in text.split(separator: ",") {
            let text = part.trimmed
            if text.isEmpty { continue }
            do {
                tags.append(try Tag(text))
            } catch {
                throw PushError(ofDevice: error)
            }
        }
        return tags
    }

    /// Parses a JSON object in a string. Values other than strings are converted to their JSON text.
    private static func pushVariables(_ text: String) throws(PushError) -> [String: String] {
        guard !text.trimmed.isEmpty else { return [:] }
        guard let object = (try? JSON(parsing: text, numbers: .asWritten))?.object else {
            throw PushError(
                "registration.invalid", "PushVariables is not a JSON object", hint: #"write {"name":"value"}"#, status: 400)
        }
        return Dictionary(uniqueKeysWithValues: object.members.map { ($0.key, $0.value.plainText) })
    }

    // MARK: - Responses

    /// Reads a hub's response: an entry around a description.
    ///
    /// Throws `xml.*` and `registration.invalid`.
    package static func registration(document: [UInt8]) throws(PushError) -> Registration {
        try registration(AtomEntry.description(in: document, limit: AtomFeed.maximumSize))
    }

    /// Reads a hub's response to a list request: a feed of entries.
    /// - Parameter continuation: The continuation token from the response's header.
    /// Throws `xml.*` and `registration.invalid`.
    package static func page(document: [UInt8], continuation: String?) throws(PushError) -> RegistrationPage {
        let feed = try XMLElement(parsing: document, limit: AtomFeed.maximumSize)
        var registrations: [Registration] = []
        for entry in feed.children where entry.name == "entry" {
            guard let description = entry["content"]?.children.first else { continue }
            registrations.append(try registration(description))
        }
        return RegistrationPage(registrations: registrations, continuation: continuation)
    }

    /// - Parameter element: A description that includes the members that only the hub sets.
    private static func registration(_ element: XMLElement) throws(PushError) -> Registration {
        let description = try description(element)
        guard let id = element.text(of: "RegistrationId").flatMap({ RegistrationID($0.trimmed) }) else {
            throw refusal("has no RegistrationId of the form digits-digits-digit")
        }
        guard let etag = element.text(of: "ETag").flatMap({ Int($0.trimmed) }) else { throw refusal("has no numeric ETag") }
        guard let expiration = element.text(of: "ExpirationTime").flatMap({ Timestamp(date: $0.trimmed) }) else {
            throw refusal("has no ExpirationTime")
        }
        return Registration(
            id: id, etag: etag, expiration: expiration, updatedAt: Timestamp(milliseconds: 0), description: description,
            installationID: description.tags.lazy.compactMap(\.installationID).first)
    }

    private static func refusal(_ what: String) -> PushError {
        PushError("registration.invalid", "the hub's response \(what)", hint: "the server is not a notification hub or has another version")
    }
}

extension RegistrationElement {
    fileprivate func handle(of element: XMLElement) throws(PushError) -> DeviceHandle {
        var parts: [String] = []
        for name in handle {
            guard let text = element.text(of: name)?.trimmed, !text.isEmpty else {
                throw PushError(
                    "registration.invalid", "\(element.name) has no \(name)", hint: "add the handle from the push service",
                    status: 400)
            }
            parts.append(text)
        }
        switch platform {
        case .browser: return try DeviceHandle(endpoint: parts[0], p256dh: parts[1], auth: parts[2])
        case .baidu: return try DeviceHandle(user: parts[0], channel: parts[1])
        default: return try DeviceHandle(platform: platform, text: parts[0])
        }
    }

    fileprivate func template(of element: XMLElement) throws(PushError) -> RegistrationTemplate {
        guard let body = element.text(of: "BodyTemplate") else {
            throw PushError(
                "registration.invalid", "\(element.name) has no BodyTemplate", hint: "add it, as CDATA", status: 400)
        }
        let isAPNs = platform == .apns
        return try RegistrationTemplate(
            name: element.text(of: "TemplateName")?.nonEmpty, body: body, headers: headers(of: element),
            expiry: isAPNs ? element.text(of: "Expiry")?.trimmed.nonEmpty : nil,
            priority: isAPNs ? element.text(of: "Priority")?.trimmed.nonEmpty : nil, platform: platform)
    }

    private func headers(of element: XMLElement) -> [PushHeader] {
        if platform == .baidu, let type = element.text(of: "MessageType")?.trimmed.nonEmpty {
            return [PushHeader(Self.baiduMessageType, type)]
        }
        guard let headers, let list = element["\(headers)Headers"] else { return [] }
        return list.children.compactMap { child in
            guard let name = child.text(of: "Header")?.trimmed, !name.isEmpty else { return nil }
            return PushHeader(name, child.text(of: "Value") ?? "")
        }
    }
}

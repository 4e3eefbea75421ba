package import PushModel

/// Writes registrations as the hub's XML: responses, requests, and lists.
package enum RegistrationXML {
    /// The format of the expiration time. Clients expect one or the other, depending on the request.
    package enum ExpirationForm: Sendable {
        /// `9999-12-31T23:59:59.999`: in responses to POST and PUT.
        case local
        /// `9999-12-31T23:59:59.999Z`: in responses to GET and in lists.
        case zoned
    }

    /// The value of the `ETag` header, `W/"1"`.
    package static func entityTag(of registration: Registration) -> String { "W/\"\(registration.etag)\"" }

    /// Writes the whole response.
    /// - Parameter link: The registration's address, with the request's query.
    package static func document(
        _ registration: Registration, at link: String, now: Timestamp, expiration form: ExpirationForm
    ) -> [UInt8] {
        entry(registration, at: link, now: now).document { write(registration, into: &$0, expiration: form) }
    }

    /// Writes the whole response to a list request.
    /// - Parameters:
    ///   - link: The list's address, with its query.
    ///   - address: Returns the address of a registration.
    package static func document(
        _ page: RegistrationPage, at link: String, now: Timestamp, address: (RegistrationID) -> String
    ) -> [UInt8] {
        let feed = AtomFeed(title: "Registrations", id: link, updated: now)
        let entries = page.registrations.map { (entry: entry($0, at: address($0.id), now: now), element: $0) }
        return feed.document(entries) { write($1, into: &$0, expiration: .zoned) }
    }

    /// The body of `POST registrations` and `PUT registrations/{id}`.
    package static func document(_ description: RegistrationDescription) -> [UInt8] {
        var writer = XMLWriter()
        writer.element("entry", ["xmlns": AtomEntry.namespace]) { writer in
            writer.element("content", ["type": "application/xml"]) { write(description, into: &$0) { _ in } }
        }
        return writer.bytes
    }

    private static func entry(_ registration: Registration, at link: String, now: Timestamp) -> AtomEntry {
        AtomEntry(id: link, title: registration.id.text, published: now, updated: now, etag: registration.etag)
    }

    /// Appends the description of a registration. The member order matters: .NET ignores members that are out of order.
    package static func write(_ registration: Registration, into writer: inout XMLWriter, expiration form: ExpirationForm) {
        write(registration.description, into: &writer) { writer in
            writer.element("ETag", text: String(registration.etag))
            let time = registration.expiration.description
            writer.element("ExpirationTime", text: form == .zoned ? time : String(time.dropLast()))
            writer.element("RegistrationId", text: registration.id.text)
        }
    }

    /// - Parameter head: Writes the members that only the hub sets, which come first.
    private static func write(
        _ description: RegistrationDescription, into writer: inout XMLWriter, _ head: (inout XMLWriter) -> Void
    ) {
        guard let kind = RegistrationElement.of(description.handle.platform) else { return }
        writer.description(kind.name(isTemplate: description.template != nil)) { writer in
            head(&writer)
            if !description.tags.isEmpty { writer.element("Tags", text: description.tags.map(\.text).joined(separator: ",")) }
            if !description.pushVariables.isEmpty {
                let variables = JSONObject(description.pushVariables.map { ($0.key, JSON.string($0.value)) })
                writer.element("PushVariables", text: JSON.object(variables).text(sortedKeys: true))
            }
            for (name, value) in zip(kind.handle, description.handle.members) { writer.element(name, text: value) }
            writer.element("SecondaryTileName", ifPresent: description.secondaryTile)
            if let template = description.template { kind.write(template, into: &writer) }
        }
    }
}

extension RegistrationElement {
    fileprivate func write(_ template: RegistrationTemplate, into writer: inout XMLWriter) {
        writer.element("BodyTemplate", cdata: template.body)
        guard let headers else {
            writer.element("TemplateName", orNil: template.name)
            if platform == .baidu {
                writer.element(
                    "MessageType", ifPresent: template.headers.first { $0.name == Self.baiduMessageType }?.value)
            }
            return
        }
        let list: (inout XMLWriter) -> Void = { writer in
            writer.element("\(headers)Headers") { writer in
                for header in template.headers {
                    writer.element("\(headers)Header") { writer in
                        writer.element("Header", text: header.name)
                        writer.element("Value", text: header.value)
                    }
                }
            }
        }
        if platform == .apns {
            writer.element("Expiry", orNil: template.expiry)
            writer.element("TemplateName", orNil: template.name)
            writer.element("Priority", ifPresent: template.priority)
            list(&writer)
        } else {
            list(&writer)
            writer.element("TemplateName", orNil: template.name)
        }
    }
}

extension DeviceHandle {
    /// The parts of the handle, in the order of the registration's members.
    fileprivate var members: [String] {
        switch self {
        case .browser(let endpoint, let p256dh, let auth): [endpoint, p256dh, auth]
        case .baidu(let user, let channel): [user, channel]
        default: [text]
        }
    }
}

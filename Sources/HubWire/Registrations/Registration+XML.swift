import PushCore

extension Registration {
    /// How the moment of expiration is written; clients parse the one form or the other, by what they asked.
    package enum ExpirationForm: Sendable {
        /// `9999-12-31T23:59:59.999`: in answers to POST and PUT.
        case local
        /// `9999-12-31T23:59:59.999Z`: in answers to GET and in lists.
        case zoned
    }

    /// `W/"1"`, the header `ETag`.
    package var entityTag: String { "W/\"\(etag)\"" }

    /// The whole answer.
    /// - Parameter link: the address of the registration, with the query of the request.
    package func document(at link: String, now: Timestamp, expiration form: ExpirationForm) -> [UInt8] {
        entry(at: link, now: now).document { write(into: &$0, expiration: form) }
    }

    func entry(at link: String, now: Timestamp) -> AtomEntry {
        AtomEntry(id: link, title: id.text, published: now, updated: now, etag: etag)
    }

    /// Appends the description. The order of the members matters: .NET drops what comes out of order.
    package func write(into writer: inout XMLWriter, expiration form: ExpirationForm) {
        description.write(into: &writer) { writer in
            writer.element("ETag", text: String(etag))
            let moment = expiration.description
            writer.element("ExpirationTime", text: form == .zoned ? moment : String(moment.dropLast()))
            writer.element("RegistrationId", text: id.text)
        }
    }

    /// What a client would send to make it as it is.
    private var description: RegistrationDescription {
        RegistrationDescription(
            handle: handle, tags: tags, template: template, pushVariables: pushVariables, secondaryTile: secondaryTile)
    }
}

extension RegistrationDescription {
    /// The body of `POST registrations` and `PUT registrations/{id}`.
    package func document() -> [UInt8] {
        var writer = XMLWriter()
        writer.element("entry", ["xmlns": AtomEntry.namespace]) { writer in
            writer.element("content", ["type": "application/xml"]) { write(into: &$0) { _ in } }
        }
        return writer.bytes
    }

    /// - Parameter head: writes the members that only the hub knows, which come first.
    fileprivate func write(into writer: inout XMLWriter, _ head: (inout XMLWriter) -> Void) {
        guard let kind = RegistrationElement.of(handle.platform) else { return }
        writer.description(kind.name(isTemplate: template != nil)) { writer in
            head(&writer)
            if !tags.isEmpty { writer.element("Tags", text: tags.map(\.text).joined(separator: ",")) }
            if !pushVariables.isEmpty {
                let variables = JSONObject(pushVariables.map { ($0.key, JSON.string($0.value)) })
                writer.element("PushVariables", text: JSON.object(variables).text(sortedKeys: true))
            }
            for (name, value) in zip(kind.handle, handle.members) { writer.element(name, text: value) }
            writer.element("SecondaryTileName", ifPresent: secondaryTile)
            if let template { kind.write(template, into: &writer) }
        }
    }
}

extension RegistrationPage {
    /// The whole answer of a list.
    /// - Parameters:
    ///   - link: the address of the list, with its query.
    ///   - address: the address of one of its registrations.
    package func document(at link: String, now: Timestamp, address: (RegistrationID) -> String) -> [UInt8] {
        let feed = AtomFeed(title: "Registrations", id: link, updated: now)
        let entries = registrations.map { (entry: $0.entry(at: address($0.id), now: now), element: $0) }
        return feed.document(entries) { $1.write(into: &$0, expiration: .zoned) }
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
    /// In the order in which a registration names them.
    fileprivate var members: [String] {
        switch self {
        case .browser(let endpoint, let p256dh, let auth): [endpoint, p256dh, auth]
        case .baidu(let user, let channel): [user, channel]
        default: [text]
        }
    }
}

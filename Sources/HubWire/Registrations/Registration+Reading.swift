import PushModel

extension Registration {
    /// Reads a hub's response: an entry around a description.
    ///
    /// Throws `xml.*` and `registration.invalid`.
    package init(document: [UInt8]) throws(PushError) {
        try self.init(description: AtomEntry.description(in: document, limit: AtomFeed.maximumSize))
    }

    /// - Parameter element: A description that includes the members that only the hub sets.
    fileprivate init(description element: XMLElement) throws(PushError) {
        let description = try RegistrationDescription(element)
        guard let id = element.text(of: "RegistrationId").flatMap({ RegistrationID($0.trimmed) }) else {
            throw Self.refusal("has no RegistrationId of the form digits-digits-digit")
        }
        guard let etag = element.text(of: "ETag").flatMap({ Int($0.trimmed) }) else { throw Self.refusal("has no numeric ETag") }
        guard let expiration = element.text(of: "ExpirationTime").flatMap({ Timestamp(date: $0.trimmed) }) else {
            throw Self.refusal("has no ExpirationTime")
        }
        self.init(
            id: id, etag: etag, expiration: expiration, updatedAt: Timestamp(milliseconds: 0), handle: description.handle,
            tags: description.tags, template: description.template, pushVariables: description.pushVariables,
            installationID: description.tags.lazy.compactMap(\.installationID).first, secondaryTile: description.secondaryTile)
    }

    private static func refusal(_ what: String) -> PushError {
        PushError("registration.invalid", "the hub's response \(what)", hint: "the server is not a notification hub or has another version")
    }
}

extension RegistrationPage {
    /// Reads a hub's response to a list request: a feed of entries.
    /// - Parameter continuation: The continuation token from the response's header.
    /// Throws `xml.*` and `registration.invalid`.
    package init(document: [UInt8], continuation: String?) throws(PushError) {
        let feed = try XMLElement(parsing: document, limit: AtomFeed.maximumSize)
        var registrations: [Registration] = []
        for entry in feed.children where entry.name == "entry" {
            guard let description = entry["content"]?.children.first else { continue }
            registrations.append(try Registration(description: description))
        }
        self.init(registrations: registrations, continuation: continuation)
    }
}

extension AtomFeed {
    /// Maximum size in bytes: a page of 100 registrations, each with a template of the largest size allowed.
    package static let maximumSize = 32 << 20
}

/// A device as its app describes it: one channel, many templates, an id that the client makes.
package struct Installation: Sendable, Equatable {
    package var id: String
    package var userID: String?
    package var handle: DeviceHandle
    /// The push service has said that the handle is dead; cleared when the channel changes.
    package var isPushChannelExpired: Bool
    package var expiration: Timestamp?
    package var tags: [Tag]
    package var pushVariables: [String: String]
    /// By template name.
    package var templates: [String: InstallationTemplate]

    package init(
        id: String, userID: String? = nil, handle: DeviceHandle, isPushChannelExpired: Bool = false,
        expiration: Timestamp? = nil, tags: [Tag] = [], pushVariables: [String: String] = [:],
        templates: [String: InstallationTemplate] = [:]
    ) {
        self.id = id
        self.userID = userID
        self.handle = handle
        self.isPushChannelExpired = isPushChannelExpired
        self.expiration = expiration
        self.tags = tags
        self.pushVariables = pushVariables
        self.templates = templates
    }
}

package struct InstallationTemplate: Sendable, Equatable {
    package var body: String
    package var headers: [PushHeader]
    package var expiry: String?
    /// Nil or empty: the hub takes the template's own name.
    package var tags: [Tag]?

    package init(body: String, headers: [PushHeader] = [], expiry: String? = nil, tags: [Tag]? = nil) {
        self.body = body
        self.headers = headers
        self.expiry = expiry
        self.tags = tags
    }
}

extension Installation {
    /// The installation as the hub keeps it: the handle and the tags as they are compared, and each template without
    /// tags tagged with its own name, so that a send can name one template.
    func checked() throws(PushError) -> Installation {
        guard !id.isEmpty else {
            throw PushError(
                "installation.invalid", "the installation id is empty", hint: "name the device", status: 400)
        }
        var checked = self
        checked.handle = try handle.checked()
        checked.tags = try tags.checked()
        for (name, template) in templates {
            var tags = (template.tags ?? []).uniqued()
            if tags.isEmpty { tags = Tag(validating: name).map { [$0] } ?? [] }
            checked.templates[name]?.tags = tags
        }
        return checked
    }

    /// The registrations that stand for this installation: a native one and one per template, tagged with
    /// `$InstallationId:{…}` and `$UserId:{…}` so that sends can address it.
    func registrations(
        nextID: () -> RegistrationID, existing: [Registration], expiration: Timestamp, now: Timestamp
    ) throws(PushError) -> [Registration] {
        var addresses: [Tag] = []
        do {
            addresses.append(try Tag.installation(id))
            if let userID { addresses.append(try Tag.user(userID)) }
        } catch {
            throw PushError(
                "installation.invalid", "the installation's id or user id cannot be a tag: \(error.message)",
                hint: "use letters, digits and - _ @ # . : =", status: 400, details: ["text": .string(error.text)])
        }
        var known: [String?: Registration] = [:]
        for registration in existing { known[registration.template?.name] = registration }
        func registration(template: RegistrationTemplate?, tags: [Tag]) throws(PushError) -> Registration {
            let old = known[template?.name]
            return Registration(
                id: old?.id ?? nextID(), etag: (old?.etag ?? 0) + 1, expiration: expiration, updatedAt: now,
                handle: handle, tags: try (tags + addresses).checked(), template: template,
                pushVariables: pushVariables, installationID: id)
        }
        var all = [try registration(template: nil, tags: tags)]
        for (name, template) in templates.sorted(by: { $0.key < $1.key }) {
            let compiled = try RegistrationTemplate(
                name: name, body: template.body, headers: template.headers, expiry: template.expiry,
                platform: handle.platform)
            all.append(try registration(template: compiled, tags: tags + (template.tags ?? [])))
        }
        return all
    }
}

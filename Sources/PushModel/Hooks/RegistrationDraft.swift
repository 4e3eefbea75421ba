/// A registration or an installation to be stored.
package struct RegistrationDraft: Sendable {
    /// The registration or installation.
    package struct Subject: Sendable {
        package enum Kind: String, Sendable { case registration, installation }

        package var kind: Kind
        package var id: String
        package var platform: Platform
        /// The user id of an installation.
        package var userID: String?

        package init(_ kind: Kind, id: String, platform: Platform, userID: String? = nil) {
            self.kind = kind
            self.id = id
            self.platform = platform
            self.userID = userID
        }

        /// The tags that the hub itself adds to an installation. They count towards the limit.
        fileprivate var addresses: [Tag] {
            guard kind == .installation else { return [] }
            return [try? Tag.installation(id), try? userID.map(Tag.addressing)].compactMap { $0 }
        }
    }

    package var hub: String
    package var subject: Subject
    package var tags: [Tag]
    /// Names of templates; a registration's template has no name.
    package var templates: [String]
    /// Whether the id is new.
    package var isNew: Bool
    package var origin: [String]
    /// Called concurrently once the registration has been stored.
    package var onceKept: [@Sendable () async -> Void] = []

    package init(hub: String, subject: Subject, tags: [Tag], templates: [String] = [], isNew: Bool, origin: [String] = []) {
        self.hub = hub
        self.subject = subject
        self.tags = tags
        self.templates = templates
        self.isNew = isNew
        self.origin = origin
    }
}

extension RegistrationDraft {
    /// Checks a draft that a hook has changed. Throws what the hub would reject.
    package func verified() throws(PushError) -> RegistrationDraft {
        var draft = self
        draft.tags = try tags.checked()
        _ = try draft.tags.adding(ofHub: subject.addresses)
        return draft
    }
}

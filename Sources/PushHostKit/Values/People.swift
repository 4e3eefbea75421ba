import PushModel

/// A registration or an installation that is about to be stored.
public struct RegistrationCandidate: Sendable {
    var base: RegistrationDraft

    init(_ base: RegistrationDraft) { self.base = base }

    /// Makes an installation, to test a hook.
    ///
    /// - Throws: An error if a tag is invalid.
    public init(id: String, hub: String = "hub", user: String? = nil, tags: [String] = [], isNew: Bool = true) throws {
        base = RegistrationDraft(
            hub: hub, subject: RegistrationDraft.Subject(.installation, id: id, platform: .apns, userID: user),
            tags: try tags.map { try Tag($0) }, isNew: isNew)
    }

    public var hub: String { base.hub }
    public var isInstallation: Bool { base.subject.kind == .installation }
    public var id: String { base.subject.id }
    /// `apns`, `fcm`, `gcm`, `wns`, `browser`.
    public var platform: String { base.subject.platform.shortName }
    /// The installation's user.
    public var user: String? { base.subject.userID }
    public var tags: [String] { base.tags.map(\.text) }
    /// Whether the id did not exist before.
    public var isNew: Bool { base.isNew }

    /// Adds a tag.
    ///
    /// - Throws: An error if the text is not a valid device tag. Tags that start with `$` are reserved for the hub.
    public mutating func add(tag text: String) throws {
        let tag = try Tag(ofDevice: text)
        if !base.tags.contains(tag) { base.tags.append(tag) }
    }

    /// Removes a tag.
    public mutating func remove(tag text: String) { base.tags.removeAll { $0.text == text } }
}

/// A login by a user who has authenticated and is about to get a session.
public struct Login: Sendable {
    public let username: String
    /// The address that the request comes from, if known.
    public let address: String?
    /// Whether tutorial mode skipped the password check.
    public let isUnproved: Bool

    /// Makes a login, to test a hook.
    public init(username: String, address: String? = nil, isUnproved: Bool = false) {
        (self.username, self.address, self.isUnproved) = (username, address, isUnproved)
    }

    init(_ base: LoginDraft) { (username, address, isUnproved) = (base.username, base.address, base.isUnproved) }
}

/// A read of a secure payload by a user. Does not include the content.
public struct SecurePayloadRead: Sendable {
    /// The payload's id.
    public let id: String
    public let username: String

    /// Makes a read, to test a hook.
    public init(id: String, username: String) { (self.id, self.username) = (id, username) }

    init(_ base: SecureFetch) { (id, username) = (base.id, base.username) }
}

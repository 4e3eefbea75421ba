import PushCore

/// A registration or an installation that is about to be kept.
public struct RegistrationCandidate: Sendable {
    var base: RegistrationDraft

    init(_ base: RegistrationDraft) { self.base = base }

    /// An installation for tests of a hook.
    ///
    /// - Throws: why a text is no tag.
    public init(id: String, hub: String = "hub", user: String? = nil, tags: [String] = [], isNew: Bool = true) throws {
        base = RegistrationDraft(
            hub: hub, kind: .installation, id: id, platform: .apns, userID: user, tags: try tags.map { try Tag($0) }, isNew: isNew)
    }

    public var hub: String { base.hub }
    public var isInstallation: Bool { base.kind == .installation }
    public var id: String { base.id }
    /// `apns`, `fcm`, `gcm`, `wns`, `browser`.
    public var platform: String { base.platform.shortName }
    /// Whose device it is, of an installation.
    public var user: String? { base.userID }
    public var tags: [String] { base.tags.map(\.text) }
    /// Whether nothing of that id was there before.
    public var isNew: Bool { base.isNew }

    /// Gives it a tag as well.
    ///
    /// - Throws: why the text cannot be the tag of a device; only the hub gives tags that start with `$`.
    public mutating func add(tag text: String) throws {
        let tag = try Tag(ofDevice: text)
        if !base.tags.contains(tag) { base.tags.append(tag) }
    }

    /// Takes a tag away.
    public mutating func remove(tag text: String) { base.tags.removeAll { $0.text == text } }
}

/// A user who has proved who they are, and is about to get a session.
public struct Login: Sendable {
    public let username: String
    /// Where the request comes from, as far as that is known.
    public let address: String?
    /// Whether tutorial mode asked for no password.
    public let isUnproved: Bool

    /// One for tests of a hook.
    public init(username: String, address: String? = nil, isUnproved: Bool = false) {
        (self.username, self.address, self.isUnproved) = (username, address, isUnproved)
    }

    init(_ base: LoginDraft) { (username, address, isUnproved) = (base.username, base.address, base.isUnproved) }
}

/// A user who is about to read a secure payload, which is not shown.
public struct SecurePayloadRead: Sendable {
    /// Of the payload.
    public let id: String
    public let username: String

    /// One for tests of a hook.
    public init(id: String, username: String) { (self.id, self.username) = (id, username) }

    init(_ base: SecureFetch) { (id, username) = (base.id, base.username) }
}

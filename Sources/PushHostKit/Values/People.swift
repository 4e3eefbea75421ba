import PushCore

/// A registration or an installation that is about to be kept.
public struct RegistrationCandidate: Sendable {
    var base: RegistrationDraft

    init(_ base: RegistrationDraft) { self.base = base }

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
    /// - Throws: why the text is no tag.
    public mutating func add(tag text: String) throws {
        let tag = try Tag(text)
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

    init(_ base: LoginDraft) { (username, address, isUnproved) = (base.username, base.address, base.isUnproved) }
}

/// A user who is about to read a secure payload, which is not shown.
public struct SecurePayloadRead: Sendable {
    /// Of the payload.
    public let id: String
    public let username: String

    init(_ base: SecureFetch) { (id, username) = (base.id, base.username) }
}

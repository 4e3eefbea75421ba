/// A write to an installation: the stored value and the new one.
package struct InstallationChange: Sendable {
    /// The way in which a write makes a user's notifications go to a channel that did not receive them before.
    package enum Claim: Sendable, Equatable {
        /// The installation belonged to no user or to another one.
        case user
        /// The installation keeps its user and gets a new channel, its own or a tile's.
        case channel
    }

    /// The stored installation; nil for a new one.
    package var old: Installation?
    package var new: Installation

    package init(old: Installation?, new: Installation) {
        self.old = old
        self.new = new
    }

    /// Nil if the write redirects nothing: it has no user, or the stored user and stored channels.
    package var claim: Claim? {
        guard let user = new.userID else { return nil }
        guard let old, let known = old.userID, Self.isSameUser(known, user) else { return .user }
        return Set(new.channels).isSubset(of: old.channels) ? nil : .channel
    }

    /// Compares users by their tags, without regard to case, because sends address them by tag.
    private static func isSameUser(_ one: String, _ other: String) -> Bool {
        one == other || Tag(validating: "$UserId:{\(one)}").map { $0 == Tag(validating: "$UserId:{\(other)}") } == true
    }
}

extension Installation {
    /// The installation's channel and those of its tiles.
    fileprivate var channels: [DeviceHandle] { [handle] + secondaryTiles.values.map(\.handle) }
}

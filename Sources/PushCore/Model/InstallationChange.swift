/// What a write makes of an installation.
package struct InstallationChange: Sendable {
    /// How a write brings what is sent to a user to a channel that did not receive it before.
    package enum Claim: Sendable, Equatable {
        /// The installation did not have this user.
        case user
        /// The installation keeps its user and gets a channel, its own or of a tile, that it did not have.
        case channel
    }

    /// As it is stored; nil for a new one.
    package var old: Installation?
    package var new: Installation

    package init(old: Installation?, new: Installation) {
        self.old = old
        self.new = new
    }

    /// Nil for a write that does no such thing: without a user, or with the user and channels that are stored.
    package var claim: Claim? {
        guard let user = new.userID else { return nil }
        guard let old, let known = old.userID, Self.isOneUser(known, user) else { return .user }
        return Set(new.channels).isSubset(of: old.channels) ? nil : .channel
    }

    /// Sends reach users by their tags, which are compared without regard to case.
    private static func isOneUser(_ one: String, _ other: String) -> Bool {
        one == other || Tag(validating: "$UserId:{\(one)}").map { $0 == Tag(validating: "$UserId:{\(other)}") } == true
    }
}

extension Installation {
    /// Its own, and those of its tiles.
    fileprivate var channels: [DeviceHandle] { [handle] + secondaryTiles.values.map(\.handle) }
}

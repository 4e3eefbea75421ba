/// A named pair of keys with the rights that they grant on one hub or on all hubs (Azure's shared access policy).
package struct AuthorizationRule: Sendable, Equatable {
    /// A right that a key grants. `manage` includes the others.
    package enum Right: String, Sendable, CaseIterable, Comparable {
        /// Register devices.
        case listen = "Listen"
        /// Manage the hub and read everything.
        case manage = "Manage"
        /// Send notifications.
        case send = "Send"

        package static func < (lhs: Right, rhs: Right) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// At most 256 characters; unique in its hub or in the namespace.
    package var name: String
    package var rights: Set<Right>
    /// 32 random bytes in base64: 44 characters, of which only the last is `=`.
    package var primaryKey: Secret
    package var secondaryKey: Secret
    package var createdAt: Timestamp
    package var modifiedAt: Timestamp
    /// Maximum number of devices per send without approval; nil for no limit of its own. Never set on a rule that manages, because such a
    /// rule can create others.
    package var ceiling: Int?

    package init(
        name: String, rights: Set<Right>, primaryKey: Secret, secondaryKey: Secret, createdAt: Timestamp,
        modifiedAt: Timestamp, ceiling: Int? = nil
    ) {
        self.name = name
        self.rights = rights
        self.primaryKey = primaryKey
        self.secondaryKey = secondaryKey
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
        self.ceiling = ceiling
    }

    package func allows(_ right: Right) -> Bool { rights.contains(right) || rights.contains(.manage) }
}

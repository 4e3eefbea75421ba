/// Who may do what with a hub or with all of them: a named pair of keys and their rights (Azure's shared access policy).
package struct AuthorizationRule: Sendable, Equatable {
    /// What a key allows. `manage` includes the others.
    package enum Right: String, Sendable, CaseIterable, Comparable {
        /// Registers devices.
        case listen = "Listen"
        /// Manages the hub, reads everything.
        case manage = "Manage"
        /// Sends notifications.
        case send = "Send"

        package static func < (lhs: Right, rhs: Right) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// At most 256 characters; unique in its hub or in the namespace.
    package var name: String
    package var rights: Set<Right>
    /// 32 random bytes in base64: 44 characters, of which the last alone is `=`.
    package var primaryKey: Secret
    package var secondaryKey: Secret
    package var createdAt: Timestamp
    package var modifiedAt: Timestamp
    /// Most devices that one send may reach without somebody else's leave; nil for no limit of its own. Never on a rule that manages,
    /// which can make itself others.
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

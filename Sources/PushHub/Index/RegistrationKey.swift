import PushModel

/// The subject that a change locks: a registration, or an installation with its registrations.
enum RegistrationKey: Sendable, Hashable {
    case registration(RegistrationID)
    /// Ids that differ only in case have the same lock, because they have the same tag `$InstallationId:{…}`.
    case installation(folded: String)

    init(installation id: String) { self = .installation(folded: Tag.folded(id)) }

    /// The key of the registration in a row: its installation if it has one.
    init(ofRow row: UInt32, in table: RegistrationTable) {
        self = table.installationID(at: row).map { RegistrationKey(installation: $0) } ?? .registration(table.id(at: row))
    }
}

extension RegistrationKey: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.registration(let left), .registration(let right)): left.text < right.text
        case (.installation(let left), .installation(let right)): left < right
        case (.registration, .installation): true
        case (.installation, .registration): false
        }
    }
}

import PushModel

extension RegistrationTombstone.Reason {
    var storedText: String {
        switch self {
        case .deleted: "deleted"
        case .expired: "expired"
        case .invalidHandle: "handleDied"
        case .installationChanged: "installationChanged"
        }
    }

    /// The columns `detail` and `platform` store its parts.
    var report: InvalidHandleReport? {
        if case .invalidHandle(let report) = self { report } else { nil }
    }
}

extension RegistrationTombstone {
    /// - Parameter row: begins with the columns `id`, `time`, `reason`, `detail` and `platform`.
    init(stored row: some SQLRow) throws {
        let reason: Reason
        switch row.text(2) {
        case "deleted": reason = .deleted
        case "expired": reason = .expired
        case "handleDied":
            let platform = try row.optional(4) { try Platform(stored: row.text($0)) }
            reason = .invalidHandle(InvalidHandleReport(platform, reason: row.optional(3, row.text) ?? ""))
        case "installationChanged": reason = .installationChanged
        case let text: throw UnreadableValue(reason: "unknown reason \"\(text)\"")
        }
        self.init(reason, at: row.time(1))
    }
}

extension DeletedRegistration {
    /// The columns that `init(stored:)` reads.
    static let columns = "id, time, reason, detail, platform, handle, expiration, installation"

    init(stored row: some SQLRow) throws {
        self = try reading("the departure of the registration \(row.text(0))") {
            DeletedRegistration(
                id: try RegistrationID(stored: row.text(0)),
                tombstone: try RegistrationTombstone(stored: row),
                handle: try DeviceHandle(platform: Platform(stored: row.text(4)), stored: row.text(5)), expiration: row.time(6),
                installationID: row.optional(7, row.text))
        }
    }
}

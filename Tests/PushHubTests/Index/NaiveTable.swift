import Support

@testable import PushModel

/// The reference for the table: whole rows, scanned from end to end.
struct NaiveTable {
    private(set) var rows: [RegistrationID: Registration] = [:]
    private(set) var deleted: Set<RegistrationID> = []

    mutating func put(_ registration: Registration) {
        rows[registration.id] = registration
        deleted.remove(registration.id)
    }

    mutating func remove(_ id: RegistrationID) {
        rows[id] = nil
        deleted.insert(id)
    }

    mutating func expire(now: Timestamp) {
        for row in rows.values where row.expiration <= now { remove(row.id) }
    }

    func ids(_ expression: TagExpression?) -> Set<RegistrationID> {
        Set(rows.values.filter { row in expression.map { $0.matches(Set(row.tags)) } ?? true }.map(\.id))
    }

    func ids(for handle: DeviceHandle) -> Set<RegistrationID> { Set(rows.values.filter { $0.handle == handle }.map(\.id)) }

    /// Groups that get the same bytes, and the number of duplicates that get none.
    func groups(of expression: TagExpression?, for content: NotificationContent) -> (groups: [Group: Int], duplicates: Int) {
        struct DuplicateHandle: Hashable {
            let handle: DeviceHandle
            let content: RegistrationTemplate.Content?
            let variables: [String: String]
        }
        struct Key: Hashable {
            let platform: Platform
            let content: RegistrationTemplate.Content?
            let variables: [String: String]
        }
        var (groups, seen, duplicates): ([Key: [DeviceHandle]], Set<DuplicateHandle>, Int) = ([:], [], 0)
        for id in ids(expression) {
            guard let row = rows[id] else { continue }
            switch content {
            case .template where row.template != nil: break
            case .native(let payloads) where row.template == nil && payloads[row.platform] != nil: break
            default: continue
            }
            let used = row.pushVariables.filter { row.template?.variables.contains($0.key.lowercased()) == true }
            guard seen.insert(DuplicateHandle(handle: row.handle, content: row.template?.content, variables: used)).inserted else {
                duplicates += 1
                continue
            }
            groups[Key(platform: row.platform, content: row.template?.content, variables: used), default: []].append(row.handle)
        }
        return (Group.counted(groups.map { Group(platform: $0.platform, handles: $1.map(\.text).sorted()) }), duplicates)
    }

    struct Group: Hashable {
        let platform: Platform
        /// A handle occurs once for each time that it gets the bytes.
        let handles: [String]

        /// Several groups may have the same handles.
        static func counted(_ groups: [Group]) -> [Group: Int] { groups.reduce(into: [:]) { $0[$1, default: 0] += 1 } }
    }
}

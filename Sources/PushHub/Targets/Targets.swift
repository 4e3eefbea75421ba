import PushModel

/// The devices of one send, in groups that get the same bytes, without duplicates and registrations of the other kind. Holds four bytes
/// for each; its recipient is looked up when its batch is due.
struct Targets: Sendable {
    struct Group: Sendable {
        var platform: Platform
        /// The template of the first target; the others' differ at most in their names.
        var template: RegistrationTemplate?
        /// The push variables that the template uses. Others do not affect the bytes.
        var variables: [String: String] = [:]
        /// Rows of registrations, ascending, or indices of handles.
        var members: [UInt32] = []
    }

    /// Handles of a direct send; members are their indices. Nil for registrations.
    var direct: [DeviceHandle]?
    /// In the order of their first targets, so that repeated sends have the same order.
    var groups: [Group] = []
    /// Targets with the same handle and content as another one. Azure counts them as Skipped.
    var duplicates: [UInt32] = []
    /// For each duplicate, the target that gets the push; empty for direct handles.
    var originals: [UInt32] = []
    /// Number of registrations that match the audience, of any kind.
    var matched = 0

    var count: Int { groups.reduce(0) { $0 + $1.members.count } }
    var isEmpty: Bool { groups.allSatisfy(\.members.isEmpty) }

    /// Number of devices, that is, of different handles. A device with several templates is several targets.
    func deviceCount(in columns: RegistrationColumns) -> Int {
        // Direct handles differ, and a duplicate has the handle of its original.
        guard direct == nil else { return count }
        var counter = HandleCounter()
        for group in groups { counter.add(group.members, in: columns) }
        return counter.count
    }

    var platforms: Set<Platform> { Set(groups.map(\.platform)) }
    var summary: String {
        "\(matched) registration\(matched == 1 ? " matches" : "s match"), \(count) can receive this"
    }

    init(matched: Int = 0) { self.matched = matched }

    init(direct handles: [DeviceHandle]) {
        direct = handles
        matched = handles.count
        var seen = Set<DeviceHandle>()
        var found: [Platform: Int] = [:]
        for (number, handle) in handles.enumerated() {
            guard seen.insert(handle).inserted else {
                duplicates.append(UInt32(number))
                continue
            }
            let group = found[handle.platform] ?? groups.count
            if group == groups.count {
                found[handle.platform] = group
                groups.append(Group(platform: handle.platform))
            }
            groups[group].members.append(UInt32(number))
        }
    }

    /// Removes targets that have results from an earlier process.
    mutating func drop(_ done: FinishedTargets, in table: RegistrationTable) {
        if let direct {
            // Results of direct handles do not tell duplicates from originals.
            keep { !done.contains(direct[Int($0)]) }
        } else {
            let rows = done.rows(in: table)
            keep { !rows.contains($0) }
            let open = duplicates.indices.filter { !rows.contains(duplicates[$0]) }
            (duplicates, originals) = (open.map { duplicates[$0] }, open.map { originals[$0] })
        }
    }

    /// Keeps `count` random targets, without their duplicates.
    mutating func sample(_ count: Int, with random: some RandomSource) {
        guard self.count > count else { return }
        var all = groups.flatMap(\.members).sorted()
        // A partial Fisher-Yates shuffle.
        for index in 0..<count {
            all.swapAt(index, index + Int(random.next() % UInt64(all.count - index)))
        }
        let chosen = Set(all.prefix(count))
        keep { chosen.contains($0) }
        (duplicates, originals) = ([], [])
    }

    /// The targets of each platform, ascending; platforms in the order of their first targets.
    var byPlatform: [(platform: Platform, members: [UInt32])] {
        var found: [(platform: Platform, members: [UInt32])] = []
        for group in groups where !group.members.isEmpty {
            if let index = found.firstIndex(where: { $0.platform == group.platform }) {
                found[index].members += group.members
            } else {
                found.append((group.platform, group.members))
            }
        }
        return found.map { ($0.platform, $0.members.sorted()) }
    }

    /// Removes targets and their duplicates, and returns the duplicates. Duplicates of direct handles stay, because their originals are
    /// unknown.
    mutating func take(_ members: RowSet) -> [(duplicate: UInt32, original: UInt32)] {
        keep { !members.contains($0) }
        let pairs = zip(duplicates, originals).map { (duplicate: $0, original: $1) }
        guard !pairs.isEmpty else { return [] }
        let rest = pairs.filter { !members.contains($0.original) }
        (duplicates, originals) = (rest.map(\.duplicate), rest.map(\.original))
        return pairs.filter { members.contains($0.original) }
    }

    private mutating func keep(_ isIncluded: (UInt32) -> Bool) {
        for group in groups.indices { groups[group].members.removeAll { !isIncluded($0) } }
        groups.removeAll(where: \.members.isEmpty)
        groups.sort { ($0.members.first ?? 0) < ($1.members.first ?? 0) }
    }
}

/// Targets with results from an earlier process. There may be a million, so ids are packed.
struct FinishedTargets: Sendable {
    private var packed: [PackedRegistrationID] = []
    private var unusual: [RegistrationID] = []
    private var handles: Set<DeviceHandle> = []
    /// Hashes of the handles that the notification has removed.
    private var removedHandles: Set<Int> = []
    /// Number of registrations that the notification has removed.
    private(set) var removedRegistrations = 0
    /// Number of devices that the notification has removed.
    var removedDevices: Int { removedHandles.count }

    var isEmpty: Bool { packed.isEmpty && unusual.isEmpty && handles.isEmpty }

    mutating func insert(_ device: DeviceOutcome) {
        if device.isRegistrationRemoved {
            removedRegistrations += 1
            removedHandles.insert(device.handle.hashValue)
        }
        guard let id = device.registrationID else {
            handles.insert(device.handle)
            return
        }
        if let packed = PackedRegistrationID(id) { self.packed.append(packed) } else { unusual.append(id) }
    }

    func contains(_ handle: DeviceHandle) -> Bool { handles.contains(handle) }

    /// Their current rows.
    func rows(in table: RegistrationTable) -> Set<UInt32> {
        var rows = Set(packed.lazy.compactMap { table.row(of: $0) })
        rows.formUnion(unusual.lazy.compactMap { table.row(of: $0) })
        return rows
    }
}

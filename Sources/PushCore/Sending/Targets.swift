/// The devices of one send, in groups that get the same bytes, after native and template registrations were told apart and
/// duplicates set aside. Four bytes for each: who stands at a place is looked up when its turn comes.
struct Targets: Sendable {
    struct Group: Sendable {
        var platform: Platform
        /// Of the first target; the others' differ in their names at most.
        var template: RegistrationTemplate?
        /// The push variables that the template looks at; the others make no difference to the bytes.
        var variables: [String: String] = [:]
        /// Places of registrations, ascending, or numbers of handles.
        var members: [UInt32] = []
    }

    /// Handles without a registration; the members are their numbers. Nil where registrations are meant.
    var direct: [DeviceHandle]?
    /// In the order of their first targets, so that the same send crosses the wire in the same order.
    var groups: [Group] = []
    /// The same handle with the same content a second time; Azure counts them as Skipped.
    var duplicates: [UInt32] = []
    /// Of each duplicate the target that gets the push; none where handles without registrations are meant.
    var originals: [UInt32] = []
    /// How many registrations the audience named, whatever their kind.
    var matched = 0

    var count: Int { groups.reduce(0) { $0 + $1.members.count } }
    var isEmpty: Bool { groups.allSatisfy(\.members.isEmpty) }
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

    /// Leaves out those that have their verdict from a process before this one.
    mutating func drop(_ done: DoneTargets, in table: RegistrationTable) {
        guard !done.isEmpty else { return }
        if let direct {
            // Of a handle without a registration nobody knows whether the duplicate or the other one is done.
            keep { !done.contains(direct[Int($0)]) }
        } else {
            let places = done.places(in: table)
            keep { !places.contains($0) }
            let open = duplicates.indices.filter { !places.contains(duplicates[$0]) }
            (duplicates, originals) = (open.map { duplicates[$0] }, open.map { originals[$0] })
        }
    }

    /// Keeps `count` of the targets, chosen at random; what was set aside goes with the others.
    mutating func sample(_ count: Int, with random: some RandomSource) {
        guard self.count > count else { return }
        var all = groups.flatMap(\.members).sorted()
        // Fisher and Yates, as far as needed.
        for place in 0..<count {
            all.swapAt(place, place + Int(random.next() % UInt64(all.count - place)))
        }
        let chosen = Set(all.prefix(count))
        keep { chosen.contains($0) }
        (duplicates, originals) = ([], [])
    }

    /// The targets of each platform, ascending; platforms in the order of their first targets.
    var byPlatform: [(platform: Platform, members: [UInt32])] {
        var found: [(platform: Platform, members: [UInt32])] = []
        for group in groups where !group.members.isEmpty {
            if let place = found.firstIndex(where: { $0.platform == group.platform }) {
                found[place].members += group.members
            } else {
                found.append((group.platform, group.members))
            }
        }
        return found.map { ($0.platform, $0.members.sorted()) }
    }

    /// Takes targets out, and answers their duplicates, which go with them. Those of handles without registrations stay: nobody knows
    /// whose they are.
    mutating func take(_ members: PlaceSet) -> [(duplicate: UInt32, original: UInt32)] {
        keep { !members.contains($0) }
        let pairs = zip(duplicates, originals).map { (duplicate: $0, original: $1) }
        guard !pairs.isEmpty else { return [] }
        let rest = pairs.filter { !members.contains($0.original) }
        (duplicates, originals) = (rest.map(\.duplicate), rest.map(\.original))
        return pairs.filter { members.contains($0.original) }
    }

    private mutating func keep(_ isKept: (UInt32) -> Bool) {
        for group in groups.indices { groups[group].members.removeAll { !isKept($0) } }
        groups.removeAll(where: \.members.isEmpty)
        groups.sort { ($0.members.first ?? 0) < ($1.members.first ?? 0) }
    }
}

/// Targets that had their verdict from a process before, without the texts of their ids: there may be a million.
struct DoneTargets: Sendable {
    private var packed: [PackedRegistrationID] = []
    private var unusual: [RegistrationID] = []
    private var handles: Set<DeviceHandle> = []

    var isEmpty: Bool { packed.isEmpty && unusual.isEmpty && handles.isEmpty }

    mutating func insert(_ device: DeviceOutcome) {
        guard let id = device.registrationID else {
            handles.insert(device.handle)
            return
        }
        if let packed = PackedRegistrationID(id) { self.packed.append(packed) } else { unusual.append(id) }
    }

    func contains(_ handle: DeviceHandle) -> Bool { handles.contains(handle) }

    /// Where they stand now.
    func places(in table: RegistrationTable) -> Set<UInt32> {
        var places = Set(packed.lazy.compactMap { table.place(of: $0) })
        places.formUnion(unusual.lazy.compactMap { table.place(of: $0) })
        return places
    }
}

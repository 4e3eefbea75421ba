/// What sends and look-ups need of registrations, by place: some 60 bytes each. Whole rows are the store's.
///
/// What stands at the place of one that has left stays until the place may be used again: runs that began before still ask.
struct RegistrationColumns: Sendable {
    private var firsts = PlaceColumn<UInt64>(vacant: 0)
    private var seconds = PlaceColumn<UInt64>(vacant: 0)
    var traits = PlaceColumn<RegistrationTraits>(vacant: .vacant)
    private var handles = ByteColumn(cell: DeviceHandle.tokenSize)
    /// Numbers of `TemplateRegister`.
    var templates = PlaceColumn<UInt32>(vacant: TemplateRegister.none)
    /// Of registrations that stand for an installation: its place, and the next registration of the same one.
    var owners = PlaceColumn<UInt32>(vacant: .max)
    var siblings = PlaceColumn<UInt32>(vacant: .max)
    /// Registrations with the same handle are in a ring.
    private var followers = PlaceColumn<UInt32>(vacant: .max)
    private var leaders = PlaceColumn<UInt32>(vacant: .max)
    /// Ids that are not packed.
    private var unusualIDs: [UInt32: RegistrationID] = [:]
    private var variables: [UInt32: [String: String]] = [:]

    func isLive(_ place: UInt32) -> Bool { traits[place].isLive }

    // MARK: - Ids

    func id(at place: UInt32) -> RegistrationID {
        if let id = unusualIDs[place] { return id }
        return PackedRegistrationID(first: firsts[place], second: seconds[place], shard: traits[place].shard).id
    }

    /// Of an id that is packed.
    func packedID(at place: UInt32) -> PackedRegistrationID {
        PackedRegistrationID(first: firsts[place], second: seconds[place], shard: traits[place].shard)
    }

    func has(_ id: RegistrationID, _ packed: PackedRegistrationID?, at place: UInt32) -> Bool {
        packed.map { has($0, at: place) } ?? (unusualIDs[place] == id)
    }

    func has(_ packed: PackedRegistrationID, at place: UInt32) -> Bool {
        firsts[place] == packed.first && seconds[place] == packed.second && traits[place].shard == packed.shard
    }

    func idHash(at place: UInt32) -> UInt64 {
        let shard = traits[place].shard
        if shard == RegistrationTraits.unusualShard, let id = unusualIDs[place] { return Self.hash(of: id, nil) }
        return PackedRegistrationID(first: firsts[place], second: seconds[place], shard: shard).hash
    }

    /// Of the id, the same in any process; never 0.
    func mark(at place: UInt32) -> UInt32 {
        // FNV-1a, over whole words where the id is numbers.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ word: UInt64) { hash = (hash ^ word) &* 0x100_0000_01b3 }
        if let id = unusualIDs[place] {
            for byte in id.text.utf8 { add(UInt64(byte)) }
        } else {
            for word in [firsts[place], seconds[place], UInt64(traits[place].shard)] { add(word ^ word >> 32) }
        }
        return max(1, UInt32(truncatingIfNeeded: hash ^ hash >> 32))
    }

    static func hash(of id: RegistrationID, _ packed: PackedRegistrationID?) -> UInt64 {
        packed?.hash ?? UInt64(bitPattern: Int64(id.text.hashValue))
    }

    /// - Parameter unusual: the id where it is not packed.
    mutating func set(_ unusual: RegistrationID?, _ packed: PackedRegistrationID?, at place: UInt32) {
        if let packed {
            firsts[place] = packed.first
            seconds[place] = packed.second
        } else {
            unusualIDs[place] = unusual
        }
    }

    // MARK: - Handles

    func handle(at place: UInt32) -> DeviceHandle {
        let (platform, isToken) = (traits[place].platform, handles.isInCell(place))
        return handles.withBytes(at: place) { DeviceHandle(platform, packed: $0, isToken: isToken) }
    }

    func has(_ platform: Platform, _ handle: UnsafeRawBufferPointer, isToken: Bool, at place: UInt32) -> Bool {
        guard traits[place].platform == platform, handles.isInCell(place) == isToken else { return false }
        return handles.withBytes(at: place) { $0.count == handle.count && $0.elementsEqual(handle) }
    }

    func handleHash(at place: UInt32) -> UInt64 {
        let platform = traits[place].platform
        return handles.withBytes(at: place) { Self.hash(of: platform, $0) }
    }

    static func hash(of platform: Platform, _ handle: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(platform.code)
        hasher.combine(bytes: handle)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    func haveOneHandle(_ place: UInt32, _ other: UInt32) -> Bool {
        handles.withBytes(at: place) { has(traits[place].platform, $0, isToken: handles.isInCell(place), at: other) }
    }

    mutating func set(_ handle: UnsafeRawBufferPointer, isToken: Bool, at place: UInt32) {
        handles.set(handle, at: place, isInCell: isToken)
    }

    // MARK: - Rings

    /// The places with the same handle as this one, itself first.
    func ring(of place: UInt32) -> [UInt32] {
        guard traits[place].isLinked else { return [place] }
        var ring = [place]
        var next = followers[place]
        while next != place {
            ring.append(next)
            next = followers[next]
        }
        return ring
    }

    func follower(of place: UInt32) -> UInt32 { followers[place] }

    /// Puts a place into the ring of another one, or makes a ring of the two.
    mutating func link(_ place: UInt32, behind other: UInt32) {
        if !traits[other].isLinked {
            traits[other].isLinked = true
            followers[other] = other
            leaders[other] = other
        }
        let next = followers[other]
        traits[place].isLinked = true
        followers[place] = next
        leaders[place] = other
        followers[other] = place
        leaders[next] = place
    }

    /// Takes a place out of its ring. Answers another one of it; nil where it was in none.
    mutating func unlink(_ place: UInt32) -> UInt32? {
        guard traits[place].isLinked else { return nil }
        let (next, before) = (followers[place], leaders[place])
        followers[before] = next
        leaders[next] = before
        traits[place].isLinked = false
        if next == before { traits[next].isLinked = false }
        return next
    }

    // MARK: - Variables

    func variables(at place: UInt32) -> [String: String] { traits[place].hasVariables ? variables[place] ?? [:] : [:] }

    mutating func set(variables new: [String: String], at place: UInt32) {
        traits[place].hasVariables = !new.isEmpty
        variables[place] = new.isEmpty ? nil : new
    }

    /// Forgets what is left of a place that may be used again.
    mutating func clear(_ place: UInt32) {
        unusualIDs[place] = nil
        variables[place] = nil
        handles.clear(place)
        owners.clear(place)
        siblings.clear(place)
        traits[place] = .vacant
    }
}

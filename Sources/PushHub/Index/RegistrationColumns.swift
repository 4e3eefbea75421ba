import PushModel

/// The registration data that sends and lookups need, by row: about 60 bytes each. The store holds the full rows.
///
/// The data of a removed registration stays until its row can be reused, because earlier send runs still read it.
struct RegistrationColumns: Sendable {
    private var firsts = RowColumn<UInt64>(vacant: 0)
    private var seconds = RowColumn<UInt64>(vacant: 0)
    var traits = RowColumn<RegistrationTraits>(vacant: .vacant)
    private var handles = ByteColumn(cell: DeviceHandle.tokenSize)
    /// Template numbers of `TemplateRegister`.
    var templates = RowColumn<UInt32>(vacant: TemplateRegister.none)
    /// For registrations of an installation: the installation's row, and the next registration of the same installation.
    var owners = RowColumn<UInt32>(vacant: .max)
    var siblings = RowColumn<UInt32>(vacant: .max)
    /// Registrations with the same handle form a ring.
    private var followers = RowColumn<UInt32>(vacant: .max)
    private var leaders = RowColumn<UInt32>(vacant: .max)
    /// Ids that do not fit the packed form.
    private var unusualIDs: [UInt32: RegistrationID] = [:]
    private var variables: [UInt32: [String: String]] = [:]

    func isLive(_ place: UInt32) -> Bool { traits[place].isLive }

    // MARK: - Ids

    func id(at place: UInt32) -> RegistrationID {
        if let id = unusualIDs[place] { return id }
        return PackedRegistrationID(first: firsts[place], second: seconds[place], shard: traits[place].shard).id
    }

    /// The id in a row, which must fit the packed form.
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

    /// A hash of the id that is stable across processes; never 0.
    func mark(at place: UInt32) -> UInt32 {
        // FNV-1a, by 64-bit words if the id is packed.
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

    /// - Parameter unusual: the id, if it does not fit the packed form.
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

    func haveSameHandle(_ place: UInt32, _ other: UInt32) -> Bool {
        handles.withBytes(at: place) { has(traits[place].platform, $0, isToken: handles.isInCell(place), at: other) }
    }

    mutating func set(_ handle: UnsafeRawBufferPointer, isToken: Bool, at place: UInt32) {
        handles.set(handle, at: place, isInCell: isToken)
    }

    // MARK: - Rings

    /// Rows with the same handle, starting with `place`.
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

    /// Adds a row to the ring of another, or forms a ring of the two.
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

    /// Removes a row from its ring. Returns another row of the ring; nil if there was no ring.
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

    /// Clears the data of a row that can be reused.
    mutating func clear(_ place: UInt32) {
        unusualIDs[place] = nil
        variables[place] = nil
        handles.clear(place)
        owners.clear(place)
        siblings.clear(place)
        traits[place] = .vacant
    }
}

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
    /// Registrations with the same handle form a circular chain.
    private var followers = RowColumn<UInt32>(vacant: .max)
    private var leaders = RowColumn<UInt32>(vacant: .max)
    /// Ids that do not fit the packed form.
    private var unusualIDs: [UInt32: RegistrationID] = [:]
    private var variables: [UInt32: [String: String]] = [:]

    func isLive(_ row: UInt32) -> Bool { traits[row].isLive }

    // MARK: - Ids

    func id(at row: UInt32) -> RegistrationID {
        if let id = unusualIDs[row] { return id }
        return PackedRegistrationID(first: firsts[row], second: seconds[row], shard: traits[row].shard).id
    }

    /// The id in a row, which must fit the packed form.
    func packedID(at row: UInt32) -> PackedRegistrationID {
        PackedRegistrationID(first: firsts[row], second: seconds[row], shard: traits[row].shard)
    }

    func has(_ id: RegistrationID, _ packed: PackedRegistrationID?, at row: UInt32) -> Bool {
        packed.map { has($0, at: row) } ?? (unusualIDs[row] == id)
    }

    func has(_ packed: PackedRegistrationID, at row: UInt32) -> Bool {
        firsts[row] == packed.first && seconds[row] == packed.second && traits[row].shard == packed.shard
    }

    func idHash(at row: UInt32) -> UInt64 {
        let shard = traits[row].shard
        if shard == RegistrationTraits.unusualShard, let id = unusualIDs[row] { return Self.hash(of: id, nil) }
        return PackedRegistrationID(first: firsts[row], second: seconds[row], shard: shard).hash
    }

    /// A hash of the id that is stable across processes; never 0.
    func mark(at row: UInt32) -> UInt32 {
        // FNV-1a, by 64-bit words if the id is packed.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ word: UInt64) { hash = (hash ^ word) &* 0x100_0000_01b3 }
        if let id = unusualIDs[row] {
            for byte in id.text.utf8 { add(UInt64(byte)) }
        } else {
            for word in [firsts[row], seconds[row], UInt64(traits[row].shard)] { add(word ^ word >> 32) }
        }
        return max(1, UInt32(truncatingIfNeeded: hash ^ hash >> 32))
    }

    static func hash(of id: RegistrationID, _ packed: PackedRegistrationID?) -> UInt64 {
        packed?.hash ?? UInt64(bitPattern: Int64(id.text.hashValue))
    }

    /// - Parameter unusual: the id, if it does not fit the packed form.
    mutating func set(_ unusual: RegistrationID?, _ packed: PackedRegistrationID?, at row: UInt32) {
        if let packed {
            firsts[row] = packed.first
            seconds[row] = packed.second
        } else {
            unusualIDs[row] = unusual
        }
    }

    // MARK: - Handles

    func handle(at row: UInt32) -> DeviceHandle {
        let (platform, isToken) = (traits[row].platform, handles.isInCell(row))
        return handles.withBytes(at: row) { DeviceHandle(platform, packed: $0, isToken: isToken) }
    }

    func has(_ platform: Platform, _ handle: UnsafeRawBufferPointer, isToken: Bool, at row: UInt32) -> Bool {
        guard traits[row].platform == platform, handles.isInCell(row) == isToken else { return false }
        return handles.withBytes(at: row) { $0.count == handle.count && $0.elementsEqual(handle) }
    }

    func handleHash(at row: UInt32) -> UInt64 {
        let platform = traits[row].platform
        return handles.withBytes(at: row) { Self.hash(of: platform, $0) }
    }

    static func hash(of platform: Platform, _ handle: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(platform.code)
        hasher.combine(bytes: handle)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    func haveSameHandle(_ row: UInt32, _ other: UInt32) -> Bool {
        handles.withBytes(at: row) { has(traits[row].platform, $0, isToken: handles.isInCell(row), at: other) }
    }

    mutating func set(_ handle: UnsafeRawBufferPointer, isToken: Bool, at row: UInt32) {
        handles.set(handle, at: row, isInCell: isToken)
    }

    // MARK: - Chains of rows with the same handle

    /// Rows with the same handle, starting with `row`.
    func sameHandleChain(of row: UInt32) -> [UInt32] {
        guard traits[row].isLinked else { return [row] }
        var chain = [row]
        var next = followers[row]
        while next != row {
            chain.append(next)
            next = followers[next]
        }
        return chain
    }

    func follower(of row: UInt32) -> UInt32 { followers[row] }

    /// Adds a row to the chain of another, or forms a chain of the two.
    mutating func link(_ row: UInt32, behind other: UInt32) {
        if !traits[other].isLinked {
            traits[other].isLinked = true
            followers[other] = other
            leaders[other] = other
        }
        let next = followers[other]
        traits[row].isLinked = true
        followers[row] = next
        leaders[row] = other
        followers[other] = row
        leaders[next] = row
    }

    /// Removes a row from its chain. Returns another row of the chain; nil if there was no chain.
    mutating func unlink(_ row: UInt32) -> UInt32? {
        guard traits[row].isLinked else { return nil }
        let (next, before) = (followers[row], leaders[row])
        followers[before] = next
        leaders[next] = before
        traits[row].isLinked = false
        if next == before { traits[next].isLinked = false }
        return next
    }

    // MARK: - Variables

    func variables(at row: UInt32) -> [String: String] { traits[row].hasVariables ? variables[row] ?? [:] : [:] }

    mutating func set(variables new: [String: String], at row: UInt32) {
        traits[row].hasVariables = !new.isEmpty
        variables[row] = new.isEmpty ? nil : new
    }

    /// Clears the data of a row that can be reused.
    mutating func clear(_ row: UInt32) {
        unusualIDs[row] = nil
        variables[row] = nil
        handles.clear(row)
        owners.clear(row)
        siblings.clear(row)
        traits[row] = .vacant
    }
}

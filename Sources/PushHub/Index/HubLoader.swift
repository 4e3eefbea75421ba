package import PushModel

/// Builds the hub's table from stored rows, without holding a full row longer than needed to read it.
///
/// If an installation has two rows, the newer one counts. The older one had expired, and the installation was written to another row
/// while the store could not delete it. The older row and its registrations are left out and listed for deletion.
package struct HubLoader: StoredHubReader {
    private(set) var table = RegistrationTable()
    private(set) var unreadable: [UnreadableRow] = []
    private(set) var lastSequence: Int64 = 0
    /// Number of rows with reserved tags that an older version accepted from clients. These tags are left out, because they address
    /// other devices.
    private(set) var rowsWithForeignTags = 0
    /// Registrations of installations among these rows. The store has their reserved tags until the row is written again.
    private(set) var foreignTags = ForeignTags()
    private var index = AudienceIndex.Loader()
    /// Tags of the current row.
    private var tags: [AudienceIndex.Loader.ReadTag] = []
    /// Template numbers by the store's template keys, and the last one used, which many consecutive rows share.
    private var numbers: [Int64: UInt32] = [:]
    private var last: (key: Int64, number: UInt32)?
    /// Write and expiry times of installations, to resolve duplicates.
    private var writeTimes = RowColumn<Writing?>(vacant: nil)
    /// The tag `$UserId:{…}` of each installation with a user, by row.
    private var users = RowColumn<TagFingerprint?>(vacant: nil)
    /// Expiry times of the older rows of duplicate installations.
    private var older: [String: Set<Timestamp>] = [:]
    private var taken: (registrations: Set<UInt32>, installations: Set<UInt32>) = ([], [])
    private var ends: (registrations: UInt32, installations: UInt32) = (0, 0)

    private struct Writing: Sendable {
        var time: Timestamp?
        var expiration: Timestamp

        func isNewer(than other: Writing) -> Bool {
            guard let time, let otherTime = other.time, time != otherTime else { return expiration > other.expiration }
            return time > otherTime
        }
    }

    package init() {}

    package mutating func expect(registrationsBelow end: UInt32) { table.expect(below: end) }

    // MARK: - Installations

    package mutating func add(_ placed: InstallationRow) throws(PushError) {
        try check(placed.row)
        ends.installations = max(ends.installations, placed.row + 1)
        let (id, writing) = (placed.installation.id, Writing(time: placed.installation.updatedAt, expiration: placed.expiration))
        if let other = table.installations.row(of: id), let otherWriting = writeTimes[other] {
            let isNewer = writing.isNewer(than: otherWriting)
            let old = isNewer ? other : placed.row
            table.leftovers.installationRemovals.append(old)
            taken.installations.insert(old)
            older[id, default: []].insert(isNewer ? otherWriting.expiration : writing.expiration)
            guard isNewer else { return }
            table.installations.withdraw(other)
        }
        writeTimes[placed.row] = writing
        if let user = placed.installation.userID, let tag = try? Tag.user(user) { users[placed.row] = index.fingerprint(of: tag) }
        let clean = placed.withoutForeignTags
        if clean != placed { rowsWithForeignTags += 1 }
        table.installations.set(clean, replacing: nil)
        table.installations.resolveConflict(of: id)
    }

    // MARK: - Registrations

    package mutating func add(_ row: StoredRegistration, fullRegistration: () throws(PushError) -> Registration) throws(PushError) {
        try add(row, fullRegistration: fullRegistration) { (loader) throws(PushError) in try loader.number(of: row, fullRegistration) }
    }

    /// - Parameter number: provides the number of the row's template.
    private mutating func add(
        _ row: StoredRegistration, fullRegistration: () throws(PushError) -> Registration,
        template number: (inout HubLoader) throws(PushError) -> UInt32
    ) throws(PushError) {
        try check(row.row)
        let packed = PackedRegistrationID(row.id)
        let unusual = packed == nil ? RegistrationID(String(decoding: row.id, as: UTF8.self)) : nil
        guard packed != nil || unusual != nil else {
            throw PushError(
                "hub.not_found", "invalid registration id \"\(String(decoding: row.id, as: UTF8.self).prefix(64))\"", hint: nil,
                status: 404)
        }
        ends.registrations = max(ends.registrations, row.row + 1)
        if let installation = row.installationID, isOutdated(installation, row.expiration) {
            if let id = packed?.id ?? unusual { leave(row.row, id, row.expiration) }
            return
        }
        let addresses = addresses(of: row)
        if try index.read(row.tags, into: &tags, of: addresses) {
            if let addresses { foreignTags.note(try fullRegistration(), keeping: { [index] in index.isAddress($0, addresses) }) }
            if addresses == nil || addresses?.installation != nil { rowsWithForeignTags += 1 }
        }
        let number = try number(&self)
        if row.handle.platform == .apns, row.handle.text.count == 2 * DeviceHandle.tokenSize {
            withUnsafeTemporaryAllocation(byteCount: DeviceHandle.tokenSize, alignment: 8) { bytes in
                let isToken = DeviceHandle.pack(row.handle.text, into: bytes)
                let handle = isToken ? UnsafeRawBufferPointer(bytes) : row.handle.text
                table.load(row, packed, unusual, handle: handle, isToken: isToken, template: number)
            }
        } else {
            table.load(row, packed, unusual, handle: row.handle.text, isToken: false, template: number)
        }
        index.insert(row.row, tags)
        if row.installationID == nil { table.expire(row.row, at: row.expiration) }
    }

    package mutating func add(_ placed: RegistrationRow) throws(PushError) {
        let registration = placed.registration
        let tags = Array(registration.tags.lazy.map(\.text).joined(separator: ",").utf8)
        var id = registration.id.text
        let result: Result<Void, PushError> = id.withUTF8 { id in
            tags.withUnsafeBytes { tags in
                registration.handle.withTextBytes { handle in
                    Result { () throws(PushError) in
                        try add(
                            StoredRegistration(
                                row: placed.row, id: UnsafeRawBufferPointer(id),
                                handle: StoredHandle(platform: registration.platform, text: handle), tags: tags, templateKey: nil,
                                pushVariables: registration.pushVariables, installationID: registration.installationID,
                                expiration: registration.expiration),
                            fullRegistration: { registration }
                        ) { $0.table.loadTemplate(registration.template) }
                    }
                }
            }
        }
        try result.get()
    }

    /// Uses the installation, not the registration's row, in which an older version may have stored a client's tags. If the installation is
    /// unreadable, its user is unknown.
    private func addresses(of row: StoredRegistration) -> AudienceIndex.Loader.Addresses? {
        guard let installation = row.installationID else { return nil }
        guard let owner = table.installations.row(of: installation) else {
            let tag = try? Tag.installation(installation)
            let isConflicting = tag.map { table.installations.otherOwner(of: $0, besides: installation) != nil } == true
            return AudienceIndex.Loader.Addresses(installation: isConflicting ? nil : installation, user: nil)
        }
        let isConflicting = table.installations.conflicting.contains(owner)
        return AudienceIndex.Loader.Addresses(installation: isConflicting ? nil : installation, user: users[owner])
    }

    private func isOutdated(_ installation: String, _ expiration: Timestamp) -> Bool {
        guard let expirations = older[installation], expirations.contains(expiration) else { return false }
        return table.installations.row(of: installation).flatMap { writeTimes[$0]?.expiration } != expiration
    }

    /// Marks a row for deletion from the store.
    private mutating func leave(_ rowNumber: UInt32, _ id: RegistrationID, _ time: Timestamp) {
        taken.registrations.insert(rowNumber)
        let tombstone = RegistrationTombstone(.expired, at: time)
        table.leftovers.removals.append(RemovedRegistration(row: rowNumber, id: id, tombstone: tombstone))
    }

    private mutating func number(
        of row: StoredRegistration, _ fullRegistration: () throws(PushError) -> Registration
    ) throws(PushError) -> UInt32 {
        guard let key = row.templateKey else { return TemplateRegister.none }
        if let number = last?.key == key ? last?.number : numbers[key] {
            table.shareTemplate(number)
            last = (key, number)
            return number
        }
        let number = table.loadTemplate(try fullRegistration().template)
        numbers[key] = number
        return number
    }

    // MARK: - Other records

    package mutating func add(_ outcome: OutcomeName, at rowNumber: UInt32) { table.load(outcome, at: rowNumber) }

    package mutating func add(_ tombstone: RegistrationTombstone, of id: RegistrationID) { table.load(tombstone, of: id) }

    package mutating func add(_ row: UnreadableRow) {
        unreadable.append(row)
        guard let rowNumber = row.row, rowNumber < .max else { return }
        switch row.table {
        case .registrations:
            taken.registrations.insert(rowNumber)
            ends.registrations = max(ends.registrations, rowNumber + 1)
        case .installations:
            taken.installations.insert(rowNumber)
            ends.installations = max(ends.installations, rowNumber + 1)
        case .tombstones, .heldRemovals: break
        }
    }

    package mutating func end(lastSequence: Int64) {
        self.lastSequence = lastSequence
        table.leftovers.installationRemovals.sort()
        table.installations.loaded(end: ends.installations, taken: taken.installations)
        let index = index
        self.index = AudienceIndex.Loader()
        table.loaded(index.finish(), end: ends.registrations, taken: taken.registrations)
        (tags, numbers, last, older) = ([], [:], nil, [:])
        (writeTimes, users) = (RowColumn(vacant: nil), RowColumn(vacant: nil))
    }

    private func check(_ rowNumber: UInt32) throws(PushError) {
        guard rowNumber == .max else { return }
        throw PushError("hub.not_found", "invalid row number \(rowNumber)", hint: nil, status: 404)
    }
}

/// Makes a hub's table of what a store has, without holding a whole row for longer than it is read.
///
/// Of two rows of one installation the newer one counts: the older one expired and was written anew elsewhere, while the store could
/// forget nothing. It stays out of the table with its registrations, and the store is to be told.
package struct HubLoader: StoredHubReader {
    private(set) var table = RegistrationTable()
    private(set) var unreadable: [UnreadableRow] = []
    private(set) var lastSequence: Int64 = 0
    /// Rows with reserved tags that an older version accepted from a client. These tags are left out: they would address what is meant
    /// for others.
    private(set) var rowsWithForeignTags = 0
    /// The registrations of installations among them: the store has these tags until the row is written again.
    private(set) var foreignTags = ForeignTags()
    private var index = AudienceIndex.Loader()
    /// Of the row that is read.
    private var tags: [AudienceIndex.Loader.ReadTag] = []
    /// The numbers of templates by the keys that the store has for them, and the last of them, which many rows after it have.
    private var numbers: [Int64: UInt32] = [:]
    private var last: (key: Int64, number: UInt32)?
    /// When installations were written and when they leave, for those that come twice.
    private var writings = PlaceColumn<Writing?>(vacant: nil)
    /// By the places of installations: the tags `$UserId:{…}` of those with a user.
    private var users = PlaceColumn<TagFingerprint?>(vacant: nil)
    /// When the older ones of them left.
    private var older: [String: Set<Timestamp>] = [:]
    private var taken: (registrations: Set<UInt32>, installations: Set<UInt32>) = ([], [])
    private var ends: (registrations: UInt32, installations: UInt32) = (0, 0)

    private struct Writing: Sendable {
        var moment: Timestamp?
        var expiration: Timestamp

        func isNewer(than other: Writing) -> Bool {
            guard let moment, let theirs = other.moment, moment != theirs else { return expiration > other.expiration }
            return moment > theirs
        }
    }

    package init() {}

    package mutating func expect(registrationsBelow end: UInt32) { table.expect(below: end) }

    // MARK: - Installations

    package mutating func add(_ placed: PlacedInstallation) throws(PushError) {
        try check(placed.place)
        ends.installations = max(ends.installations, placed.place + 1)
        let (id, writing) = (placed.installation.id, Writing(moment: placed.installation.updatedAt, expiration: placed.expiration))
        if let other = table.installations.place(of: id), let theirs = writings[other] {
            let isNewer = writing.isNewer(than: theirs)
            let old = isNewer ? other : placed.place
            table.leftovers.installationRemovals.append(old)
            taken.installations.insert(old)
            older[id, default: []].insert(isNewer ? theirs.expiration : writing.expiration)
            guard isNewer else { return }
            table.installations.withdraw(other)
        }
        writings[placed.place] = writing
        if let user = placed.installation.userID, let tag = try? Tag.user(user) { users[placed.place] = index.fingerprint(of: tag) }
        let clean = placed.withoutForeignTags
        if clean != placed { rowsWithForeignTags += 1 }
        table.installations.set(clean, replacing: nil)
    }

    // MARK: - Registrations

    package mutating func add(_ row: StoredRegistration, whole: () throws(PushError) -> Registration) throws(PushError) {
        try add(row, whole: whole) { (loader) throws(PushError) in try loader.number(of: row, whole) }
    }

    /// - Parameter number: takes the number of its template.
    private mutating func add(
        _ row: StoredRegistration, whole: () throws(PushError) -> Registration,
        template number: (inout HubLoader) throws(PushError) -> UInt32
    ) throws(PushError) {
        try check(row.place)
        let packed = PackedRegistrationID(row.id)
        let unusual = packed == nil ? RegistrationID(String(decoding: row.id, as: UTF8.self)) : nil
        guard packed != nil || unusual != nil else {
            throw PushError(
                "hub.not_found", "\"\(String(decoding: row.id, as: UTF8.self).prefix(64))\" is no registration id", hint: nil, status: 404)
        }
        ends.registrations = max(ends.registrations, row.place + 1)
        if let installation = row.installationID, isOutlived(installation, row.expiration) {
            if let id = packed?.id ?? unusual { leave(row.place, id, row.expiration) }
            return
        }
        let addresses = addresses(of: row)
        if try index.read(row.tags, into: &tags, of: addresses) {
            if let addresses { foreignTags.note(try whole(), keeping: { [index] in index.isAddress($0, addresses) }) }
            rowsWithForeignTags += 1
        }
        let number = try number(&self)
        if row.platform == .apns, row.handle.count == 2 * DeviceHandle.tokenSize {
            withUnsafeTemporaryAllocation(byteCount: DeviceHandle.tokenSize, alignment: 8) { bytes in
                let isToken = DeviceHandle.pack(row.handle, into: bytes)
                let handle = isToken ? UnsafeRawBufferPointer(bytes) : row.handle
                table.load(row, packed, unusual, handle: handle, isToken: isToken, template: number)
            }
        } else {
            table.load(row, packed, unusual, handle: row.handle, isToken: false, template: number)
        }
        index.insert(row.place, tags)
        if row.installationID == nil { table.expire(row.place, at: row.expiration) }
    }

    package mutating func add(_ placed: PlacedRegistration) throws(PushError) {
        let registration = placed.registration
        let tags = Array(registration.tags.lazy.map(\.text).joined(separator: ",").utf8)
        var id = registration.id.text
        let result: Result<Void, PushError> = id.withUTF8 { id in
            tags.withUnsafeBytes { tags in
                registration.handle.withTextBytes { handle in
                    Result { () throws(PushError) in
                        try add(
                            StoredRegistration(
                                place: placed.place, id: UnsafeRawBufferPointer(id), platform: registration.platform, handle: handle,
                                tags: tags, templateKey: nil, pushVariables: registration.pushVariables,
                                installationID: registration.installationID, expiration: registration.expiration),
                            whole: { registration }
                        ) { $0.table.loadTemplate(registration.template) }
                    }
                }
            }
        }
        try result.get()
    }

    /// What the row itself says is not asked: an older version may have written a client's tags there. Of an installation that cannot be
    /// read the user is unknown.
    private func addresses(of row: StoredRegistration) -> AudienceIndex.Loader.Addresses? {
        guard let installation = row.installationID else { return nil }
        let user = table.installations.place(of: installation).flatMap { users[$0] }
        return AudienceIndex.Loader.Addresses(installation: installation, user: user)
    }

    private func isOutlived(_ installation: String, _ expiration: Timestamp) -> Bool {
        guard let moments = older[installation], moments.contains(expiration) else { return false }
        return table.installations.place(of: installation).flatMap { writings[$0]?.expiration } != expiration
    }

    /// A row that the store is to forget.
    private mutating func leave(_ place: UInt32, _ id: RegistrationID, _ moment: Timestamp) {
        taken.registrations.insert(place)
        let departure = RegistrationDeparture(.expired, at: moment)
        table.leftovers.removals.append(RemovedRegistration(place: place, id: id, departure: departure))
    }

    private mutating func number(
        of row: StoredRegistration, _ whole: () throws(PushError) -> Registration
    ) throws(PushError) -> UInt32 {
        guard let key = row.templateKey else { return TemplateRegister.none }
        if let number = last?.key == key ? last?.number : numbers[key] {
            table.shareTemplate(number)
            last = (key, number)
            return number
        }
        let number = table.loadTemplate(try whole().template)
        numbers[key] = number
        return number
    }

    // MARK: - The rest

    package mutating func add(_ outcome: OutcomeName, at place: UInt32) { table.load(outcome, at: place) }

    package mutating func add(_ departure: RegistrationDeparture, of id: RegistrationID) { table.load(departure, of: id) }

    package mutating func add(_ row: UnreadableRow) {
        unreadable.append(row)
        guard let place = row.place, place < .max else { return }
        switch row.table {
        case .registrations:
            taken.registrations.insert(place)
            ends.registrations = max(ends.registrations, place + 1)
        case .installations:
            taken.installations.insert(place)
            ends.installations = max(ends.installations, place + 1)
        case .departures, .heldRemovals: break
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
        (writings, users) = (PlaceColumn(vacant: nil), PlaceColumn(vacant: nil))
    }

    private func check(_ place: UInt32) throws(PushError) {
        guard place == .max else { return }
        throw PushError("hub.not_found", "\(place) is no place", hint: nil, status: 404)
    }
}

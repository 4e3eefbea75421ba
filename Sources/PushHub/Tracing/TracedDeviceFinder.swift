import PushModel

/// Finds the device that a trace question names.
///
/// Not thread-safe: it is part of the actor that owns the directory.
struct TracedDeviceFinder {
    let directory: RegistrationDirectory

    private var environment: HubEnvironment { directory.environment }
    private var store: any HubStore { directory.store }

    /// Maximum number of devices traced together, for a user or a handle prefix.
    private static let maximumTraced = 20
    /// Minimum number of characters of a handle prefix.
    private static let minimumPrefixLength = 6
    /// Number of handles examined before the hub's actor handles other calls.
    private static let handleBatchSize: UInt32 = 20_000
    /// Maximum number of names compared for "did you mean".
    private static let maximumCompared = 10_000
    /// Maximum number of deleted registrations examined per device.
    private static let maximumDeleted = 20

    /// Finds devices by name. Tries in order: installation id, registration id, simulated phone, handle, user, handle prefix.
    ///
    /// Throws `device.not_found` (404) if nothing matches but a name is similar. If no name is similar, returns the device as one that
    /// never registered.
    func devices(_ text: String, in stored: StoredNotification) async throws(PushError) -> (devices: [TracedDevice], further: Int) {
        directory.sweep()
        if directory.table.installations.row(of: text) != nil { return ([try await device(installation: text, name: text)], 0) }
        if let id = RegistrationID(text) { return ([try await device(registration: id)], 0) }
        let known = await environment.deviceObserver?.handles(ofPhone: text) ?? []
        if !known.isEmpty {
            var device = try await device(handles: known, name: text)
            device.phone = text
            return ([device], 0)
        }
        let whole = Platform.allCases.compactMap { try? DeviceHandle(platform: $0, text: text) }
        for handle in whole {
            let device = try await device(handles: [handle], name: await phoneName(of: handle) ?? handle.abbreviated)
            if !device.isUnknownToHub || stored.request.audience.handles.contains(handle) { return ([device], 0) }
        }
        let left = try await device(installation: text, name: text)
        if !left.isUnknownToHub { return ([left], 0) }
        let mine = try await devices(ofUser: text)
        if !mine.devices.isEmpty { return mine }
        let begun = try await devices(handleBeginning: text, in: stored)
        if !begun.devices.isEmpty { return begun }
        if let near = await nearestDevice(text) {
            throw PushError(
                "device.not_found", "unknown device \"\(text.prefix(80))\"", hint: "did you mean \"\(near)\"?", status: 404,
                details: ["near": .string(near)])
        }
        if await isTooShort(text, in: stored) {
            throw PushError(
                "device.not_found", "unknown device \"\(text)\"",
                hint: "a handle starts with it; pass at least \(Self.minimumPrefixLength) characters of the handle", status: 404)
        }
        // Abbreviate what may be a handle; other names are short.
        return ([TracedDevice(name: text.utf8.count > 40 ? whole.first?.abbreviated ?? String(text.prefix(40)) : text)], 0)
    }

    // MARK: - One device

    private func device(installation id: String, name: String) async throws(PushError) -> TracedDevice {
        var device = TracedDevice(name: name, installationID: id)
        device.installation = try await directory.installationRow(id)?.installation
        device.registrations = try await directory.rows(stillAt: directory.table.rows(ofInstallation: id))
        device.deleted = try await store.deletedRegistrations(.installation(id), limit: Self.maximumDeleted)
        device.pruned = try await store.pruned(PrunedFilter(id: id), below: nil, limit: 1)
        device.handles =
            ([device.installation?.handle].compactMap { $0 } + device.registrations.map(\.registration.handle)
            + device.deleted.map(\.handle) + device.pruned.map(\.handle)).uniqued()
        device.platform = device.handles.first?.platform
        return device
    }

    private func device(registration id: RegistrationID) async throws(PushError) -> TracedDevice {
        var device = TracedDevice(name: id.text, requestedID: id)
        device.registrations = try await directory.row(id).map { [$0] } ?? []
        device.deleted = try await store.deletedRegistrations(.registration(id), limit: 1)
        device.pruned = try await store.pruned(PrunedFilter(id: id.text), below: nil, limit: 1)
        device.handles =
            (device.registrations.map(\.registration.handle) + device.deleted.map(\.handle) + device.pruned.map(\.handle)).uniqued()
        device.platform = device.handles.first?.platform
        return device
    }

    /// - Parameter handles: handles of one device, latest first.
    private func device(handles: [DeviceHandle], name: String) async throws(PushError) -> TracedDevice {
        var device = TracedDevice(name: name, platform: handles.first?.platform, handles: handles)
        device.registrations = try await directory.rows(stillAt: handles.flatMap { directory.table.rows(for: $0) }.uniqued().sorted())
        for handle in handles.prefix(5) {
            device.deleted += try await store.deletedRegistrations(.handle(handle), limit: Self.maximumDeleted)
        }
        device.deleted.sort { $0.tombstone.time > $1.tombstone.time }
        let owner = device.registrations.lazy.compactMap(\.registration.installationID).first ?? device.deleted.first?.installationID
        if let owner {
            var whole = try await self.device(installation: owner, name: name)
            whole.handles = (handles + whole.handles).uniqued()
            let others = device.registrations.filter { row in !whole.registrations.contains { $0.row == row.row } }
            whole.registrations += others
            whole.platform = handles.first?.platform
            return whole
        }
        if device.registrations.isEmpty, let id = device.deleted.first?.id {
            device.pruned = try await store.pruned(PrunedFilter(id: id.text), below: nil, limit: 1)
        }
        return device
    }

    /// The name of a simulated phone; nil if the phone is named after its handle.
    func phoneName(of handle: DeviceHandle) async -> String? {
        let name = await environment.deviceObserver?.result(of: nil, at: handle)?.phone
        return name?.lowercased() == handle.text.lowercased() ? nil : name
    }

    // MARK: - Several devices

    private func devices(ofUser user: String) async throws(PushError) -> (devices: [TracedDevice], further: Int) {
        guard let address = try? Tag.addressing(user) else { return ([], 0) }
        let tags = [address] + [Tag(validating: "username:\(user)")].compactMap { $0 }
        return try await devices(at: directory.table.select(.or(tags.map { .tag($0) })))
    }

    private func devices(at rows: [UInt32]) async throws(PushError) -> (devices: [TracedDevice], further: Int) {
        var owners: [String] = []
        var handles: [DeviceHandle] = []
        for row in rows {
            if let owner = directory.table.installationID(at: row) {
                owners.append(owner)
            } else {
                handles.append(directory.table.columns.handle(at: row))
            }
        }
        (owners, handles) = (owners.uniqued(), handles.uniqued())
        var found: [TracedDevice] = []
        for owner in owners.prefix(Self.maximumTraced) { found.append(try await device(installation: owner, name: owner)) }
        for handle in handles.prefix(max(0, Self.maximumTraced - owners.count)) {
            let phone = await phoneName(of: handle)
            var device = try await device(handles: [handle], name: phone ?? handle.abbreviated)
            if phone == nil, let id = device.registrations.first?.registration.id { device.name = id.text }
            device.phone = phone
            found.append(device)
        }
        return (found, owners.count + handles.count - found.count)
    }

    /// Devices with an abbreviated handle as lists show it (`A1B2C3…9F0E`), or with a handle prefix.
    private func devices(
        handleBeginning text: String, in stored: StoredNotification
    ) async throws(PushError) -> (devices: [TracedDevice], further: Int) {
        let form = AbbreviatedHandle(text)
        guard form.beginning.count >= Self.minimumPrefixLength else { return ([], 0) }
        let rows = await rows(of: form, limit: Self.maximumTraced + 1)
        if !rows.isEmpty { return try await devices(at: rows) }
        var direct: [TracedDevice] = []
        for handle in stored.request.audience.handles.filter(form.isMeant).prefix(Self.maximumTraced) {
            direct.append(try await device(handles: [handle], name: handle.abbreviated))
        }
        return (direct, 0)
    }

    /// Whether the text is a prefix of a handle, but too short to identify it.
    private func isTooShort(_ text: String, in stored: StoredNotification) async -> Bool {
        let form = AbbreviatedHandle(text)
        guard (1..<Self.minimumPrefixLength).contains(form.beginning.count), form.beginning.allSatisfy(\.isHexDigit) else { return false }
        if stored.request.audience.handles.contains(where: form.isMeant) { return true }
        return await !rows(of: form, limit: 1).isEmpty
    }

    private func rows(of form: AbbreviatedHandle, limit: Int) async -> [UInt32] {
        var rows: [UInt32] = []
        var row: UInt32 = 0
        while row < directory.table.end, rows.count < limit {
            if directory.table.columns.isLive(row), form.isMeant(directory.table.columns.handle(at: row)) { rows.append(row) }
            row += 1
            if row.isMultiple(of: Self.handleBatchSize) { await Task.yield() }
        }
        return rows
    }

    private func nearestDevice(_ text: String) async -> String? {
        let (found, _) = directory.table.installations.page(tagged: [], on: nil, behind: nil, top: Self.maximumCompared)
        return nearest(
            text, in: found.map { directory.table.installations.id(at: $0) } + (await environment.deviceObserver?.phoneNames() ?? []))
    }
}

/// The first characters of a handle, and the last ones if the text has the form that lists show.
private struct AbbreviatedHandle {
    let beginning: String
    private let end: String

    init(_ text: String) {
        let parts = text.lowercased().split(separator: "…", maxSplits: 1, omittingEmptySubsequences: false)
        (beginning, end) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }

    func isMeant(_ handle: DeviceHandle) -> Bool {
        let text = handle.text.lowercased()
        return text.hasPrefix(beginning) && text.hasSuffix(end)
    }
}

/// Devices of a notification that hooks have deferred. They have no result, and hooks are not called for them before their time.
package struct DeferredDevices: Sendable, Equatable {
    private struct Wait: Hashable {
        var time: Timestamp
        var reason: HookReason
        var platform: Platform
    }

    /// Rows of registrations, or indices of handles.
    private var waits: [Wait: RowSet] = [:]
    /// The marks of the registrations in these rows, which tell them from later ones in the same rows; empty for handles.
    private var marks: [UInt32: UInt32] = [:]
    /// Duplicates that wait with them; determined again each time.
    package var duplicates: [UInt32] = []

    /// Longest deferral that a hook can request.
    package static let longest: Duration = .seconds(7 * 86_400)
    /// Shortest deferral. Repeated shorter ones would keep the hub busy.
    package static let shortest: Duration = .seconds(1)

    package init() {}

    package var isEmpty: Bool { waits.isEmpty }

    /// The earliest time at which some of them resume.
    package var time: Timestamp? { waits.keys.map(\.time).min() }

    /// The deferred devices of each platform, in the order of the platforms.
    package var byPlatform: [(platform: Platform, devices: RowSet)] {
        let sets = Dictionary(grouping: waits, by: \.key.platform).mapValues { RowSet.union($0.map(\.value)) }
        return sets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    package mutating func add(_ devices: RowSet, on platform: Platform, until time: Timestamp, _ reason: HookReason) {
        guard !devices.isEmpty else { return }
        waits[Wait(time: time, reason: reason, platform: platform), default: RowSet()].formUnion(devices)
    }

    package mutating func add(_ others: DeferredDevices) {
        for (wait, devices) in others.waits { waits[wait, default: RowSet()].formUnion(devices) }
        marks.merge(others.marks) { _, new in new }
        duplicates += others.duplicates
    }

    /// Records the marks of new rows.
    package mutating func note(_ mark: (UInt32) -> UInt32) {
        for row in waits.values.lazy.flatMap(\.rows) where marks[row] == nil { marks[row] = mark(row) }
    }

    /// The devices that are deferred beyond `now` and still among the open ones.
    /// - Parameter mark: identifies the registration of a row; a row with another mark has been given to another registration and is
    ///   left out. Nil for handles, which have no marks.
    package func pending(after now: Timestamp, among open: [Platform: RowSet], mark: ((UInt32) -> UInt32)?) -> DeferredDevices {
        var found = DeferredDevices()
        for (wait, devices) in waits where wait.time > now {
            guard var present = open[wait.platform] else { continue }
            present.formIntersection(devices)
            if let mark {
                for row in present.rows {
                    if marks[row] == mark(row) { found.marks[row] = marks[row] } else { present.remove(row) }
                }
            }
            found.add(present, on: wait.platform, until: wait.time, wait.reason)
        }
        return found
    }

    /// Whether any device is deferred beyond `now`.
    package func isPending(after now: Timestamp) -> Bool { waits.keys.contains { $0.time > now } }

    /// All deferred devices, of all platforms.
    package var devices: RowSet { RowSet.union(Array(waits.values)) }

    package static func == (left: DeferredDevices, right: DeferredDevices) -> Bool {
        left.waits == right.waits && left.marks == right.marks
    }

    /// Until when a device is deferred, and why; nil if it is not, or if another registration was in its row.
    package func wait(at row: UInt32, mark: UInt32?) -> (time: Timestamp, reason: HookReason)? {
        guard let wait = waits.first(where: { $0.value.contains(row) })?.key, mark == nil || marks[row] == mark else { return nil }
        return (wait.time, wait.reason)
    }

    /// Number of deferred devices.
    package var count: Int { waits.values.reduce(0) { $0 + $1.count } }

    // MARK: - Notices

    /// Maximum number of notices with a time and reason.
    private static let maximumNotices = 10

    /// One for each time and reason, the earliest time first; one for all times beyond the first ten.
    package var notices: [Notice] {
        let counts = waits.reduce(into: [Deferral: Int]()) {
            $0[Deferral(time: $1.key.time, reason: $1.key.reason), default: 0] += $1.value.count
        }
        let sorted = counts.sorted { ($0.key.time, $0.key.reason) < ($1.key.time, $1.key.reason) }
        let listed = sorted.prefix(Self.maximumNotices).map {
            Notice.deferred(devices: $0.value, until: $0.key.time, reason: $0.key.reason.text)
        }
        let others = sorted.dropFirst(Self.maximumNotices).reduce(0) { $0 + $1.value }
        return others == 0 ? listed : listed + [.deferred(devices: others, until: nil, reason: "")]
    }

    private struct Deferral: Hashable {
        var time: Timestamp
        var reason: HookReason
    }
}

// MARK: - Stored

extension DeferredDevices {
    /// The stored form. For each time: milliseconds since 1970, plugin (empty for none), reason, platform, and number of devices; for each
    /// device, the difference of its row from the previous one, and its mark, 0 for none.
    package var stored: [UInt8] {
        var bytes: [UInt8] = []
        let sorted = waits.sorted {
            ($0.key.time, $0.key.reason, $0.key.platform.rawValue) < ($1.key.time, $1.key.reason, $1.key.platform.rawValue)
        }
        for (wait, devices) in sorted {
            bytes.append(word: UInt64(bitPattern: wait.time.milliseconds))
            bytes.append(text: wait.reason.plugin ?? "")
            bytes.append(text: wait.reason.reason)
            bytes.append(text: wait.platform.rawValue)
            bytes.append(number: UInt64(devices.count))
            var last: UInt32 = 0
            for row in devices.rows {
                bytes.append(number: UInt64(row - last))
                bytes.append(number: UInt64(marks[row] ?? 0))
                last = row
            }
        }
        return bytes
    }

    /// Nil for invalid bytes.
    package init?(stored bytes: [UInt8]) {
        self.init()
        let isComplete = bytes.withUnsafeBytes { buffer in
            var cursor = ByteCursor(buffer)
            while !cursor.isAtEnd, !cursor.isBeyond {
                let time = Timestamp(milliseconds: Int64(bitPattern: cursor.word()))
                let plugin = cursor.text()
                let reason = HookReason(plugin: plugin.isEmpty ? nil : plugin, reason: cursor.text())
                let platform = Platform(rawValue: cursor.text())
                let count = cursor.count()
                var (rows, last) = ([UInt32](), UInt64(0))
                rows.reserveCapacity(count)
                for _ in 0..<count {
                    last += cursor.number() & 0xffff_ffff
                    guard let row = UInt32(exactly: last) else { return false }
                    rows.append(row)
                    // Without a mark, hooks are asked again about the device.
                    let mark = UInt32(truncatingIfNeeded: cursor.number())
                    if mark != 0 { marks[row] = mark }
                }
                guard let platform, !rows.isEmpty, !cursor.isBeyond else { return false }
                add(RowSet(rows), on: platform, until: time, reason)
            }
            return cursor.isAtEnd
        }
        guard isComplete else { return nil }
    }
}

/// Selects the results of a device by any of its ids.
package struct DeviceOutcomeQuery: Sendable {
    package let registrations: Set<RegistrationID>
    package let installation: String?
    package let handles: Set<DeviceHandle>
    /// The push service's id of a push, in the form that ``pushKey(_:)`` returns.
    package let push: String?
    /// Encoded ids as they occur in rows. Ids in upper and lower case have different encodings.
    private let needles: [[UInt8]]

    package init(
        registrations: Set<RegistrationID> = [], installation: String? = nil, handles: Set<DeviceHandle> = [], push: String? = nil
    ) {
        self.registrations = registrations
        self.installation = installation
        self.handles = handles
        self.push = push
        var needles = registrations.map { OutcomeRow.bytes(of: $0) } + handles.map { OutcomeRow.bytes(of: $0) }
        if let installation { needles.append(OutcomeRow.bytes(of: installation)) }
        if let push { needles += [OutcomeRow.bytes(of: push), Array(push.utf8)] }
        self.needles = needles.filter { !$0.isEmpty }
    }

    package func matches(_ device: DeviceOutcome) -> Bool {
        device.registrationID.map { registrations.contains($0) } == true || handles.contains(device.handle)
            || installation.map { $0 == device.installationID } == true
            || push.map { push in device.pushID.map { Self.pushKey($0) == push } ?? false } == true
    }

    /// Quick test whether encoded rows may contain a match, so that others need not be decoded. Takes about 1 ns per byte.
    package func mayMatch(_ rows: [UInt8]) -> Bool { needles.contains { Self.find($0, in: rows) } }

    /// The part of a push id that phones know: for FCM's `projects/…/messages/…`, the last component.
    package static func pushKey(_ id: String) -> String { id.split(separator: "/").last.map(String.init) ?? id }

    private static func find(_ needle: [UInt8], in rows: [UInt8]) -> Bool {
        rows.withUnsafeBytes { rows in
            needle.withUnsafeBytes { needle in
                guard let first = needle.first, rows.count >= needle.count else { return false }
                let last = rows.count - needle.count
                var index = 0
                while index <= last {
                    if rows[index] == first {
                        var length = 1
                        while length < needle.count, rows[index + length] == needle[length] { length += 1 }
                        if length == needle.count { return true }
                    }
                    index += 1
                }
                return false
            }
        }
    }
}

/// The result of a device, and when it was recorded; nil if the time was not stored.
package struct RecordedOutcome: Sendable, Equatable {
    package var device: DeviceOutcome
    package var time: Timestamp?

    package init(device: DeviceOutcome, time: Timestamp?) { (self.device, self.time) = (device, time) }
}

extension OutcomeBatch {
    /// The results that match a query (nil: all), in order.
    package func matching(_ query: DeviceOutcomeQuery?) -> [RecordedOutcome] {
        guard query?.mayMatch(rows) != false else { return [] }
        return indices.compactMap { position in
            let device = self[position]
            return query?.matches(device) != false ? RecordedOutcome(device: device, time: time(at: position)) : nil
        }
    }
}

/// Counts the devices of a notification by result.
package struct OutcomeTally: Sendable {
    /// The result by which devices are counted.
    package struct ResultKey: Sendable, Hashable {
        package var platform: Platform
        package var outcome: OutcomeName
        package var reason: String
        package var cause: OutcomeCause
        package var isRegistrationRemoved: Bool
    }

    package struct Count: Sendable {
        package var devices: Int
        package var example: RecordedOutcome
    }

    package private(set) var counts: [ResultKey: Count] = [:]
    /// Number of devices beyond the limit of distinct results.
    package private(set) var others = 0
    private static let most = 1_000

    package init() {}

    package mutating func add(_ batch: OutcomeBatch) {
        var devices = [Int](repeating: 0, count: batch.kinds.count)
        var examples = [Int?](repeating: nil, count: batch.kinds.count)
        for position in batch.indices {
            let kind = batch.kind(at: position)
            devices[kind] += 1
            if examples[kind] == nil { examples[kind] = position }
        }
        for (number, kind) in batch.kinds.enumerated() {
            guard let example = examples[number] else { continue }
            let key = ResultKey(
                platform: kind.platform, outcome: kind.outcome, reason: kind.reason, cause: kind.cause,
                isRegistrationRemoved: kind.isRegistrationRemoved)
            if counts[key] == nil, counts.count == Self.most {
                others += devices[number]
            } else {
                let first = RecordedOutcome(device: batch[example], time: batch.time(at: example))
                counts[key, default: Count(devices: 0, example: first)].devices += devices[number]
            }
        }
    }
}

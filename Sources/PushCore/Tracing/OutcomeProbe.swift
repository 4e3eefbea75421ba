/// Devices that are looked for among all those of a notification: whoever has one of these names.
package struct OutcomeProbe: Sendable {
    package let registrations: Set<RegistrationID>
    package let installation: String?
    package let handles: Set<DeviceHandle>
    /// The push service's id of a push, as far as it is compared: see ``pushKey(_:)``.
    package let push: String?
    /// As they stand in rows. In capitals, or not, ids are other bytes.
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

    /// Whether one of them may be among rows: where it is not, nothing need be put together. Takes a nanosecond a byte.
    package func mayMatch(_ rows: [UInt8]) -> Bool { needles.contains { Self.find($0, in: rows) } }

    /// What a phone knows a push by: of FCM's `projects/…/messages/…` the end.
    package static func pushKey(_ id: String) -> String { id.split(separator: "/").last.map(String.init) ?? id }

    private static func find(_ needle: [UInt8], in rows: [UInt8]) -> Bool {
        rows.withUnsafeBytes { rows in
            needle.withUnsafeBytes { needle in
                guard let first = needle.first, rows.count >= needle.count else { return false }
                let last = rows.count - needle.count
                var place = 0
                while place <= last {
                    if rows[place] == first {
                        var length = 1
                        while length < needle.count, rows[place + length] == needle[length] { length += 1 }
                        if length == needle.count { return true }
                    }
                    place += 1
                }
                return false
            }
        }
    }
}

/// What became of a device, and when that was known; nil where the moment was not kept.
package struct RecordedOutcome: Sendable, Equatable {
    package var device: DeviceOutcome
    package var time: Timestamp?

    package init(device: DeviceOutcome, time: Timestamp?) { (self.device, self.time) = (device, time) }
}

extension OutcomeBatch {
    /// Those that a probe names, all for nil, in order.
    package func matching(_ probe: OutcomeProbe?) -> [RecordedOutcome] {
        guard probe?.mayMatch(rows) != false else { return [] }
        return indices.compactMap { position in
            let device = self[position]
            return probe?.matches(device) != false ? RecordedOutcome(device: device, time: time(at: position)) : nil
        }
    }
}

/// How many devices of a notification ended how.
package struct OutcomeTally: Sendable {
    /// What those have in common that are counted together.
    package struct Ending: Sendable, Hashable {
        package var platform: Platform
        package var outcome: OutcomeName
        package var reason: String
        package var explanation: String
        package var isRegistrationRemoved: Bool
    }

    package struct Count: Sendable {
        package var devices: Int
        package var example: RecordedOutcome
    }

    package private(set) var counts: [Ending: Count] = [:]
    /// Devices that ended in ways beyond the most that are told apart.
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
            let ending = Ending(
                platform: kind.platform, outcome: kind.outcome, reason: kind.reason, explanation: kind.explanation,
                isRegistrationRemoved: kind.isRegistrationRemoved)
            if counts[ending] == nil, counts.count == Self.most {
                others += devices[number]
            } else {
                let first = RecordedOutcome(device: batch[example], time: batch.time(at: example))
                counts[ending, default: Count(devices: 0, example: first)].devices += devices[number]
            }
        }
    }
}

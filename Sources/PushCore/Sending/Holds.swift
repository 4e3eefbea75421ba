/// Devices of a notification that hooks hold: they have no verdict, and nobody is asked about them before their moment.
package struct Holds: Sendable, Equatable {
    private struct Wait: Hashable {
        var moment: Timestamp
        var reason: String
        var platform: Platform
    }

    /// By places of registrations, or numbers of handles.
    private var waits: [Wait: PlaceSet] = [:]
    /// What tells who stood at each place from whoever comes after him; none of handles.
    private var marks: [UInt32: UInt32] = [:]
    /// Those that wait with them; found anew each time.
    var duplicates: [UInt32] = []

    /// Most that a hook may hold something ahead.
    static let longest: Duration = .seconds(7 * 86_400)
    /// A hook that asked for less again and again would keep the hub busy with nothing else.
    static let shortest: Duration = .seconds(1)

    package init() {}

    package var isEmpty: Bool { waits.isEmpty }

    /// When the first of them may go on.
    var moment: Timestamp? { waits.keys.map(\.moment).min() }

    /// As they are abandoned where the notification ends before.
    var groups: [(group: RecipientGroup, members: [UInt32])] {
        let sets = Dictionary(grouping: waits, by: \.key.platform).mapValues { PlaceSet.union($0.map(\.value)) }
        return sets.sorted { $0.key < $1.key }.map { (RecipientGroup(platform: $0.key), $0.value.places) }
    }

    mutating func add(_ devices: PlaceSet, on platform: Platform, until moment: Timestamp, _ reason: String) {
        guard !devices.isEmpty else { return }
        waits[Wait(moment: moment, reason: reason, platform: platform), default: PlaceSet()].formUnion(devices)
    }

    mutating func add(_ others: Holds) {
        for (wait, devices) in others.waits { waits[wait, default: PlaceSet()].formUnion(devices) }
        marks.merge(others.marks) { _, new in new }
        duplicates += others.duplicates
    }

    /// Notes who stands where, of those that are new.
    mutating func note(_ mark: (UInt32) -> UInt32) {
        for place in waits.values.lazy.flatMap(\.places) where marks[place] == nil { marks[place] = mark(place) }
    }

    /// Those whose moment has not come, taken out of the targets with their duplicates; who is no target any more has left, and whoever
    /// has come to his place is asked about.
    func waiting(after now: Timestamp, outOf targets: inout Targets, _ mark: (UInt32) -> UInt32) -> Holds {
        var found = Holds()
        guard waits.keys.contains(where: { $0.moment > now }) else { return found }
        let open = Dictionary(uniqueKeysWithValues: targets.byPlatform.map { ($0.platform, PlaceSet($0.members)) })
        for (wait, devices) in waits where wait.moment > now {
            guard var present = open[wait.platform] else { continue }
            present.formIntersection(devices)
            if targets.direct == nil {
                for place in present.places {
                    if marks[place] == mark(place) { found.marks[place] = marks[place] } else { present.remove(place) }
                }
            }
            found.add(present, on: wait.platform, until: wait.moment, wait.reason)
        }
        guard !found.isEmpty else { return found }
        let pairs = targets.take(PlaceSet.union(Array(found.waits.values)))
        found.duplicates = pairs.map(\.duplicate)
        // A handle that was told as a duplicate would count as done when the other one goes on.
        if targets.direct != nil { (found.duplicates, targets.duplicates) = (targets.duplicates, []) }
        return found
    }

    package static func == (left: Holds, right: Holds) -> Bool { left.waits == right.waits && left.marks == right.marks }

    /// Until when a device is held, and what was said of it; nil where it is not, or somebody else stood at its place.
    func wait(at place: UInt32, mark: UInt32?) -> (moment: Timestamp, reason: String)? {
        guard let wait = waits.first(where: { $0.value.contains(place) })?.key, mark == nil || marks[place] == mark else { return nil }
        return (wait.moment, wait.reason)
    }

    /// How many are held.
    var count: Int { waits.values.reduce(0) { $0 + $1.count } }

    // MARK: - Notices

    /// Most moments and reasons that are told one by one.
    private static let mostNotices = 10

    /// One for each time and reason, the earliest time first; one for all times beyond the first ten.
    var notices: [Notice] {
        let counts = waits.reduce(into: [Deferral: Int]()) {
            $0[Deferral(time: $1.key.moment, reason: $1.key.reason), default: 0] += $1.value.count
        }
        let sorted = counts.sorted { ($0.key.time, $0.key.reason) < ($1.key.time, $1.key.reason) }
        let listed = sorted.prefix(Self.mostNotices).map { Notice.deferred(devices: $0.value, until: $0.key.time, reason: $0.key.reason) }
        let others = sorted.dropFirst(Self.mostNotices).reduce(0) { $0 + $1.value }
        return others == 0 ? listed : listed + [.deferred(devices: others, until: nil, reason: "")]
    }

    private struct Deferral: Hashable {
        var time: Timestamp
        var reason: String
    }
}

// MARK: - Stored

extension Holds {
    /// As bytes: for each wait its moment in milliseconds since 1970, its reason, its platform, and how many devices there are with the
    /// distance of each from the one before, and its mark, which is 0 where it has none.
    package var stored: [UInt8] {
        var bytes: [UInt8] = []
        let sorted = waits.sorted {
            ($0.key.moment, $0.key.reason, $0.key.platform.rawValue) < ($1.key.moment, $1.key.reason, $1.key.platform.rawValue)
        }
        for (wait, devices) in sorted {
            bytes.append(word: UInt64(bitPattern: wait.moment.milliseconds))
            bytes.append(text: wait.reason)
            bytes.append(text: wait.platform.rawValue)
            bytes.append(number: UInt64(devices.count))
            var last: UInt32 = 0
            for place in devices.places {
                bytes.append(number: UInt64(place - last))
                bytes.append(number: UInt64(marks[place] ?? 0))
                last = place
            }
        }
        return bytes
    }

    /// Nil for bytes that are none.
    package init?(stored bytes: [UInt8]) {
        self.init()
        let isWhole = bytes.withUnsafeBytes { buffer in
            var cursor = ByteCursor(buffer)
            while !cursor.isAtEnd, !cursor.isBeyond {
                let moment = Timestamp(milliseconds: Int64(bitPattern: cursor.word()))
                let (reason, platform) = (cursor.text(), Platform(rawValue: cursor.text()))
                let count = cursor.count()
                var (places, last) = ([UInt32](), UInt64(0))
                places.reserveCapacity(count)
                for _ in 0..<count {
                    last += cursor.number() & 0xffff_ffff
                    guard let place = UInt32(exactly: last) else { return false }
                    places.append(place)
                    let mark = UInt32(truncatingIfNeeded: cursor.number())
                    if mark != 0 { marks[place] = mark }
                }
                guard let platform, !places.isEmpty, !cursor.isBeyond else { return false }
                add(PlaceSet(places), on: platform, until: moment, reason)
            }
            return cursor.isAtEnd
        }
        guard isWhole else { return nil }
    }
}

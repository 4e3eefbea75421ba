/// Reads TZif, the format of compiled time zones (RFC 9636; before it, RFC 8536).
struct TimeZoneFile {
    /// The number of entries of each kind, in the order of the header.
    private struct Counts {
        let universalMarks: Int
        let standardMarks: Int
        let leapSeconds: Int
        let changes: Int
        let offsets: Int
        let characters: Int

        /// - Parameter width: size of a time in bytes.
        func size(width: Int) -> Int {
            changes * (width + 1) + offsets * 6 + characters + leapSeconds * (width + 4) + standardMarks + universalMarks
        }
    }

    private let name: String
    private let bytes: [UInt8]
    private var at = 0

    static let mark = Array("TZif".utf8)

    private init(_ bytes: [UInt8], name: String) {
        self.name = name
        self.bytes = bytes
    }

    static func read(_ bytes: [UInt8], name: String) throws(PushError) -> TimeZoneRules {
        var file = TimeZoneFile(bytes, name: name)
        let (version, counts) = try file.header()
        guard version > 0 else { return try file.body(counts, width: 4) }
        // The first block is for readers of version 1, whose times end in 2037. Skip it.
        file.at += counts.size(width: 4)
        return try file.body(try file.header().counts, width: 8)
    }

    /// - Returns: version 0 for version 1, as it is encoded.
    private mutating func header() throws(PushError) -> (version: UInt8, counts: Counts) {
        guard bytes.count - at >= 44 else { throw wrong("its header is truncated") }
        guard bytes[at..<(at + 4)].elementsEqual(Self.mark) else { throw wrong("it does not start with TZif") }
        let version = bytes[at + 4]
        // Later versions must remain readable as known ones.
        guard version == 0 || version >= UInt8(ascii: "2") else { throw wrong("its version is \(version)") }
        at += 20
        let counts = Counts(
            universalMarks: count(), standardMarks: count(), leapSeconds: count(), changes: count(), offsets: count(),
            characters: count())
        return (version, counts)
    }

    private mutating func body(_ counts: Counts, width: Int) throws(PushError) -> TimeZoneRules {
        guard counts.size(width: width) <= bytes.count - at else { throw wrong("its data is truncated") }
        guard counts.offsets > 0, counts.characters > 0 else { throw wrong("it has no offset from UTC") }
        var seconds = (0..<counts.changes).map { _ in number(width) }
        let numbers = bytes[at..<(at + counts.changes)]
        at += counts.changes
        guard numbers.allSatisfy({ $0 < counts.offsets }) else { throw wrong("a change refers to a missing offset") }
        let offsets = try offsets(counts)
        try takeLeapSeconds(counts.leapSeconds, width, outOf: &seconds)
        guard zip(seconds, seconds.dropFirst()).allSatisfy(<) else { throw wrong("its changes are not in ascending order") }
        at += counts.standardMarks + counts.universalMarks
        return TimeZoneRules(
            name: name, changes: zip(seconds, numbers).map { (second: $0, offset: $1) }, offsets: offsets,
            rule: width == 8 ? try rule() : nil)
    }

    private mutating func offsets(_ counts: Counts) throws(PushError) -> [TimeZoneRules.Offset] {
        let texts = bytes[(at + counts.offsets * 6)..<(at + counts.offsets * 6 + counts.characters)]
        var offsets: [TimeZoneRules.Offset] = []
        for _ in 0..<counts.offsets {
            let seconds = Int(number(4))
            let (daylight, index) = (bytes[at], Int(bytes[at + 1]))
            at += 2
            guard TimeZoneRules.Offset.range.contains(seconds) else { throw wrong("an offset from UTC is \(seconds) seconds") }
            guard daylight <= 1 else { throw wrong("a daylight flag is neither 0 nor 1") }
            let text = texts.dropFirst(index)
            guard let end = text.firstIndex(of: 0), text[..<end].allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw wrong("an abbreviation is not printable ASCII")
            }
            let abbreviation = String(decoding: text[..<end], as: UTF8.self)
            offsets.append(TimeZoneRules.Offset(seconds: seconds, abbreviation: abbreviation, isDaylight: daylight == 1))
        }
        at = texts.endIndex
        return offsets
    }

    /// Subtracts leap seconds: a file with leap seconds counts them in its times, timestamps do not.
    private mutating func takeLeapSeconds(_ count: Int, _ width: Int, outOf seconds: inout [Int64]) throws(PushError) {
        var index = 0
        var correction: Int64 = 0
        var last = Int64.min
        for leap in 0..<count {
            let time = number(width)
            guard leap == 0 || last < time else { throw wrong("its leap seconds are not in ascending order") }
            last = time
            while index < seconds.count, seconds[index] < time {
                seconds[index] = seconds[index].addingSaturated(-correction)
                index += 1
            }
            correction = number(4)
        }
        for index in index..<seconds.count { seconds[index] = seconds[index].addingSaturated(-correction) }
    }

    /// Reads the rule in the last line; nil if the line is empty.
    private mutating func rule() throws(PushError) -> RecurringRule? {
        let rest = bytes[at...]
        guard rest.first == 0x0a, let end = rest.dropFirst().firstIndex(of: 0x0a) else { throw wrong("its last line is missing") }
        let line = rest[(at + 1)..<end]
        if line.isEmpty { return nil }
        guard let rule = RecurringRule(posix: line) else { throw wrong("its last line is not a valid rule") }
        return rule
    }

    // MARK: Numbers

    private mutating func count() -> Int { Int(UInt32(truncatingIfNeeded: number(4))) }

    /// Reads a signed big-endian number. The caller has checked that the bytes exist.
    private mutating func number(_ width: Int) -> Int64 {
        var value: Int64 = bytes[at] < 0x80 ? 0 : -1
        for byte in bytes[at..<(at + width)] { value = value << 8 | Int64(byte) }
        at += width
        return value
    }

    private func wrong(_ reason: String) -> PushError {
        PushError(
            "time_zone.invalid", "the file of the time zone \(name) cannot be used: \(reason)",
            hint: "reinstall the system's time zones: the package tzdata")
    }
}

/// Reads TZif, the form of compiled time zones: RFC 9636 and, before it, RFC 8536.
struct TimeZoneFile {
    /// How many there are of each, in the order of the header.
    private struct Counts {
        let universalMarks: Int
        let standardMarks: Int
        let leapSeconds: Int
        let changes: Int
        let offsets: Int
        let characters: Int

        /// - Parameter width: bytes of a time.
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
        // The old form comes first, for those who know no other; its times end with the year 2037.
        file.at += counts.size(width: 4)
        return try file.body(try file.header().counts, width: 8)
    }

    /// - Returns: version 0 for the first, as it is written.
    private mutating func header() throws(PushError) -> (version: UInt8, counts: Counts) {
        guard bytes.count - at >= 44 else { throw wrong("it ends in its header") }
        guard bytes[at..<(at + 4)].elementsEqual(Self.mark) else { throw wrong("it does not begin with TZif") }
        let version = bytes[at + 4]
        // Later ones have to be readable as those that are known.
        guard version == 0 || version >= UInt8(ascii: "2") else { throw wrong("its version is \(version)") }
        at += 20
        let counts = Counts(
            universalMarks: count(), standardMarks: count(), leapSeconds: count(), changes: count(), offsets: count(),
            characters: count())
        return (version, counts)
    }

    private mutating func body(_ counts: Counts, width: Int) throws(PushError) -> TimeZoneRules {
        guard counts.size(width: width) <= bytes.count - at else { throw wrong("it ends before its data do") }
        guard counts.offsets > 0, counts.characters > 0 else { throw wrong("it has no offset from UTC") }
        var seconds = (0..<counts.changes).map { _ in number(width) }
        let numbers = bytes[at..<(at + counts.changes)]
        at += counts.changes
        guard numbers.allSatisfy({ $0 < counts.offsets }) else { throw wrong("a change leads to an offset that is not there") }
        let offsets = try offsets(counts)
        try takeLeapSeconds(counts.leapSeconds, width, outOf: &seconds)
        guard zip(seconds, seconds.dropFirst()).allSatisfy(<) else { throw wrong("its changes are not in the order of time") }
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
            guard daylight <= 1 else { throw wrong("whether an offset is one of daylight time is neither yes nor no") }
            let text = texts.dropFirst(index)
            guard let end = text.firstIndex(of: 0), text[..<end].allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw wrong("an abbreviation is no text")
            }
            let abbreviation = String(decoding: text[..<end], as: UTF8.self)
            offsets.append(TimeZoneRules.Offset(seconds: seconds, abbreviation: abbreviation, isDaylight: daylight == 1))
        }
        at = texts.endIndex
        return offsets
    }

    /// Times of a file with leap seconds count them, moments do not.
    private mutating func takeLeapSeconds(_ count: Int, _ width: Int, outOf seconds: inout [Int64]) throws(PushError) {
        var index = 0
        var correction: Int64 = 0
        var last = Int64.min
        for leap in 0..<count {
            let moment = number(width)
            guard leap == 0 || last < moment else { throw wrong("its leap seconds are not in the order of time") }
            last = moment
            while index < seconds.count, seconds[index] < moment {
                seconds[index] = seconds[index].addingSaturated(-correction)
                index += 1
            }
            correction = number(4)
        }
        for index in index..<seconds.count { seconds[index] = seconds[index].addingSaturated(-correction) }
    }

    /// The line at the end. - Returns: nil for an empty one.
    private mutating func rule() throws(PushError) -> RecurringRule? {
        let rest = bytes[at...]
        guard rest.first == 0x0a, let end = rest.dropFirst().firstIndex(of: 0x0a) else { throw wrong("its last line is missing") }
        let line = rest[(at + 1)..<end]
        if line.isEmpty { return nil }
        guard let rule = RecurringRule(posix: line) else { throw wrong("its last line is no rule") }
        return rule
    }

    // MARK: Numbers

    private mutating func count() -> Int { Int(UInt32(truncatingIfNeeded: number(4))) }

    /// With the sign that its first bit is. What is read has been found to be there.
    private mutating func number(_ width: Int) -> Int64 {
        var value: Int64 = bytes[at] < 0x80 ? 0 : -1
        for byte in bytes[at..<(at + width)] { value = value << 8 | Int64(byte) }
        at += width
        return value
    }

    private func wrong(_ reason: String) -> PushError {
        PushError(
            "time_zone.invalid", "the file of the time zone \(name) cannot be used: \(reason)",
            hint: "install the system's time zones again: the package tzdata")
    }
}

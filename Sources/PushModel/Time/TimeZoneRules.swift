/// The rules of a time zone: every clock change so far, and the rule for future ones.
///
/// A lookup is a binary search; after the last change it computes the changes of five years.
package struct TimeZoneRules: Sendable, Equatable {
    /// The clocks' offset from UTC between two changes.
    package struct Offset: Hashable, Sendable {
        /// Seconds east of UTC, from −89 999 to 93 599: the range that RFC 9636, section 3.2 allows.
        package let seconds: Int
        /// `WEST`, or `+0530` if the zone has no letters for it.
        package let abbreviation: String
        package let isDaylight: Bool

        static let range = -89_999...93_599
    }

    /// The times at which the clocks show a given local time.
    package enum Timestamps: Sendable, Equatable {
        case one(Timestamp)
        /// Skipped: the clocks are set forward at this time, which is the first that shows a later local time.
        case gap(Timestamp)
        /// Shown twice: the clocks are set back in between.
        case two(Timestamp, Timestamp)
    }

    /// The period from one change to the next, in seconds since 1970. `Int64.min` and `Int64.max` if there is no change before or after.
    struct Span: Sendable {
        let start: Int64
        /// The first second after the period.
        let end: Int64
        let offset: Offset
    }

    /// Such as `Europe/Lisbon`.
    package let name: String
    /// Changes in seconds since 1970, ascending, each with the index of its new offset.
    private let changes: [(second: Int64, offset: UInt8)]
    /// The first one applies before any change.
    private let offsets: [Offset]
    /// The rule after the last change; nil if the last offset applies forever.
    private let rule: RecurringRule?

    package static let utc = TimeZoneRules(
        name: "UTC", changes: [], offsets: [Offset(seconds: 0, abbreviation: "UTC", isDaylight: false)], rule: nil)

    /// Reads a file of the time zone database: TZif (RFC 9636), versions 1 to 4.
    ///
    /// Throws `time_zone.invalid` for any other content. Safe for untrusted bytes; takes linear time.
    package init(name: String, file: [UInt8]) throws(PushError) {
        self = try TimeZoneFile.read(file, name: name)
    }

    /// - Parameters:
    ///   - changes: ascending.
    ///   - offsets: at least one; includes all that the changes refer to.
    init(name: String, changes: [(second: Int64, offset: UInt8)], offsets: [Offset], rule: RecurringRule?) {
        self.name = name
        self.changes = changes
        self.offsets = offsets
        self.rule = rule
    }

    package func offset(at time: Timestamp) -> Offset { span(at: time.seconds).offset }

    package func localTime(at time: Timestamp) -> LocalTime {
        LocalTime(seconds: time.seconds + Int64(offset(at: time).seconds))
    }

    /// The times at which the clocks show this. For a local time shown more than twice, the first and the last.
    package func timestamps(of time: LocalTime) -> Timestamps {
        var found: [Int64] = []
        forEachSpan(around: time.seconds) { span in
            let second = time.seconds - Int64(span.offset.seconds)
            if span.start <= second, second < span.end { found.append(second) }
        }
        guard let first = found.first, let last = found.last else { return .gap(Timestamp(seconds: firstSecond(reaching: time.seconds))) }
        return found.count == 1 ? .one(Timestamp(seconds: first)) : .two(Timestamp(seconds: first), Timestamp(seconds: last))
    }

    package static func == (lhs: TimeZoneRules, rhs: TimeZoneRules) -> Bool {
        lhs.name == rhs.name && lhs.offsets == rhs.offsets && lhs.rule == rhs.rule && lhs.changes.elementsEqual(rhs.changes, by: ==)
    }
}

// MARK: - In seconds

extension TimeZoneRules {
    func span(at second: Int64) -> Span {
        var low = 0
        var high = changes.count
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].second <= second { low = middle + 1 } else { high = middle }
        }
        let start = low == 0 ? Int64.min : changes[low - 1].second
        if low == changes.count, let rule { return rule.span(at: second, from: start) }
        return Span(
            start: start, end: low == changes.count ? .max : changes[low].second,
            offset: offsets[low == 0 ? 0 : Int(changes[low - 1].offset)])
    }

    /// The first second at which the clocks show this local time or a later one: the end of the gap for a skipped time.
    func firstSecond(reaching local: Int64) -> Int64 {
        var span = span(at: local - Int64(Offset.range.upperBound))
        while true {
            let second = max(span.start, local - Int64(span.offset.seconds))
            if second < span.end { return second }
            span = self.span(at: span.end)
        }
    }

    /// The first second from which the clocks never show an earlier local time: the second occurrence of a repeated time, the end of the
    /// gap for a skipped one.
    func lastSecond(reaching local: Int64) -> Int64 {
        var last = firstSecond(reaching: local)
        forEachSpan(around: local) { span in
            let second = local - Int64(span.offset.seconds)
            if span.start < second { last = max(last, min(second, span.end)) }
        }
        return last
    }

    /// The latest local time shown up to and including this second. After a change backwards, it is later than the current local time.
    func latestLocal(until second: Int64) -> Int64 {
        var span = span(at: second - Int64(Offset.range.upperBound - Offset.range.lowerBound))
        var latest = Int64.min
        while true {
            latest = max(latest, min(span.end - 1, second) + Int64(span.offset.seconds))
            guard span.end <= second else { return latest }
            span = self.span(at: span.end)
        }
    }

    /// Calls `body` in order for every period that could include this local time.
    private func forEachSpan(around local: Int64, _ body: (Span) -> Void) {
        var span = span(at: local - Int64(Offset.range.upperBound))
        while true {
            body(span)
            guard span.end <= local - Int64(Offset.range.lowerBound) else { return }
            span = self.span(at: span.end)
        }
    }
}

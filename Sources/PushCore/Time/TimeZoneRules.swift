/// What the clocks of a time zone show, at any moment: every change that there was, and the rule for those to come.
///
/// A look-up bisects the changes; beyond the last of them it works out those of five years.
package struct TimeZoneRules: Sendable, Equatable {
    /// How far the clocks are from UTC, between two changes.
    package struct Offset: Hashable, Sendable {
        /// East of UTC, from −89 999 to 93 599: what RFC 9636, section 3.2 lets a file have.
        package let seconds: Int
        /// `WEST`, or `+0530` where nobody has letters for it.
        package let abbreviation: String
        package let isDaylight: Bool

        static let range = -89_999...93_599
    }

    /// The moments at which the clocks show a time.
    package enum Moments: Sendable, Equatable {
        case one(Timestamp)
        /// The clocks leave it out: they are set forward at this moment, which is the first that shows a later time.
        case gap(Timestamp)
        /// The clocks show it again after they have been set back.
        case two(Timestamp, Timestamp)
    }

    /// From one change to the next, in seconds since 1970. There may be none before it, `Int64.min`, and none after it, `Int64.max`.
    struct Span: Sendable {
        let start: Int64
        /// The first second that does not belong to it.
        let end: Int64
        let offset: Offset
    }

    /// `Europe/Lisbon`
    package let name: String
    /// In seconds since 1970, ascending, and the offset that each of them leads to.
    private let changes: [(second: Int64, offset: UInt8)]
    /// The first one is what there was before any change.
    private let offsets: [Offset]
    /// What holds after the last change; nil where that is for ever what it led to.
    private let rule: RecurringRule?

    package static let utc = TimeZoneRules(
        name: "UTC", changes: [], offsets: [Offset(seconds: 0, abbreviation: "UTC", isDaylight: false)], rule: nil)

    /// Reads a file of the time zone database: TZif (RFC 9636), versions 1 to 4.
    ///
    /// Throws `time_zone.invalid` for anything else, whatever the bytes are. The work is in proportion to their number.
    package init(name: String, file: [UInt8]) throws(PushError) {
        self = try TimeZoneFile.read(file, name: name)
    }

    /// - Parameters:
    ///   - changes: ascending.
    ///   - offsets: at least one, all of those that the changes lead to.
    init(name: String, changes: [(second: Int64, offset: UInt8)], offsets: [Offset], rule: RecurringRule?) {
        self.name = name
        self.changes = changes
        self.offsets = offsets
        self.rule = rule
    }

    package func offset(at moment: Timestamp) -> Offset { span(at: moment.seconds).offset }

    package func localTime(at moment: Timestamp) -> LocalTime {
        LocalTime(seconds: moment.seconds + Int64(offset(at: moment).seconds))
    }

    /// When the clocks show this. Of a time that they show more than twice, the first moment and the last.
    package func moments(of time: LocalTime) -> Moments {
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

    /// The first second at which the clocks show this time or a later one: the end of the gap for what they leave out.
    func firstSecond(reaching local: Int64) -> Int64 {
        var span = span(at: local - Int64(Offset.range.upperBound))
        while true {
            let second = max(span.start, local - Int64(span.offset.seconds))
            if second < span.end { return second }
            span = self.span(at: span.end)
        }
    }

    /// The first second from which on the clocks show nothing before this time: the second of two, and the end of the gap too.
    func lastSecond(reaching local: Int64) -> Int64 {
        var last = firstSecond(reaching: local)
        forEachSpan(around: local) { span in
            let second = local - Int64(span.offset.seconds)
            if span.start < second { last = max(last, min(second, span.end)) }
        }
        return last
    }

    /// The latest time that the clocks have shown by then, this second included: after they were set back that is not what they show.
    func latestLocal(until second: Int64) -> Int64 {
        var span = span(at: second - Int64(Offset.range.upperBound - Offset.range.lowerBound))
        var latest = Int64.min
        while true {
            latest = max(latest, min(span.end - 1, second) + Int64(span.offset.seconds))
            guard span.end <= second else { return latest }
            span = self.span(at: span.end)
        }
    }

    /// Every span that could show this time, in their order.
    private func forEachSpan(around local: Int64, _ body: (Span) -> Void) {
        var span = span(at: local - Int64(Offset.range.upperBound))
        while true {
            body(span)
            guard span.end <= local - Int64(Offset.range.lowerBound) else { return }
            span = self.span(at: span.end)
        }
    }
}

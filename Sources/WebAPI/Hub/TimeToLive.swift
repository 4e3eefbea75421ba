import PushModel

/// A time to live in an interface: an ISO 8601 duration, in which a very long one means "never expires".
enum TimeToLive {
    /// .NET's longest duration, a little more than 29,000 years. A time to live of at least this length means "never expires".
    private static let forEverInDays: Int64 = 10_675_199

    /// Parses an ISO 8601 duration such as `P90D` or `P1DT2H3M4.5S`, with years of 365 days and months of 30 days as in .NET. The outer
    /// optional is nil for invalid text, the inner one for "never expires".
    static func parse(_ text: String) -> Duration?? {
        guard let match = text.wholeMatch(of: /P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:(T)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?/)
        else { return nil }
        let parts = match.output
        let sizes: [(Substring?, Int64)] = [
            (parts.1, 365 * 86_400), (parts.2, 30 * 86_400), (parts.3, 86_400), (parts.5, 3600), (parts.6, 60), (parts.7, 1),
        ]
        let hasTime = sizes[3...].contains { $0.0 != nil }
        guard sizes.contains(where: { $0.0 != nil }), hasTime == (parts.4 != nil) else { return nil }
        var seconds: Int64 = 0
        for (digits, size) in sizes {
            guard let digits else { continue }
            guard let number = Int64(digits), number <= forEverInDays * 86_400 / size else { return .some(nil) }
            seconds += number * size
        }
        guard seconds < forEverInDays * 86_400 else { return .some(nil) }
        let fraction = (parts.8 ?? "").prefix(3)
        let milliseconds = (Int64(fraction) ?? 0) * [1, 100, 10, 1][fraction.count]
        return .some(.milliseconds(seconds * 1000 + milliseconds))
    }

    /// The duration as `P90D` or `P1DT2H3M4.5S`; .NET's longest duration for nil.
    static func text(_ timeToLive: Duration?) -> String {
        guard let timeToLive else { return "P10675199DT2H48M5.4775807S" }
        let total = max(0, timeToLive.milliseconds)
        var text = "P"
        if total >= 86_400_000 { text += "\(total / 86_400_000)D" }
        let rest = total % 86_400_000
        guard rest > 0 || total == 0 else { return text }
        text += "T"
        if rest >= 3_600_000 { text += "\(rest / 3_600_000)H" }
        if rest / 60_000 % 60 > 0 { text += "\(rest / 60_000 % 60)M" }
        let milliseconds = rest % 60_000
        if milliseconds > 0 || total == 0 {
            var fraction = Int(milliseconds % 1000).padded(3)
            while fraction.last == "0" { fraction.removeLast() }
            text += "\(milliseconds / 1000)\(fraction.isEmpty ? "" : ".\(fraction)")S"
        }
        return text
    }
}

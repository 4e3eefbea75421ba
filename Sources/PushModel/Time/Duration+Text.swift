extension Duration {
    /// The duration in at most two units: `0 s`, `1.5 s`, `2 h 30 min`, `3 d`.
    package var short: String {
        let total = milliseconds
        if total < 60_000 {
            return total.isMultiple(of: 1000) ? "\(total / 1000) s" : "\(Double(total) / 1000) s"
        }
        let units: [(Int64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")]
        var rest = total
        var parts: [String] = []
        for (size, name) in units where rest >= size {
            parts.append("\(rest / size) \(name)")
            rest %= size
        }
        return parts.prefix(2).joined(separator: " ")
    }
}

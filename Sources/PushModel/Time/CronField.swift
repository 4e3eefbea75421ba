/// One of the five fields of a schedule: its values and their syntax.
enum CronField: String, CaseIterable {
    case minute
    case hour
    case dayOfMonth = "day of the month"
    case month
    case dayOfWeek = "day of the week"

    static let months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
    static let weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

    /// Sunday is both 0 and 7.
    var range: ClosedRange<Int> {
        switch self {
        case .minute: 0...59
        case .hour: 0...23
        case .dayOfMonth: 1...31
        case .month: 1...12
        case .dayOfWeek: 0...7
        }
    }

    /// The number of distinct values.
    private var cycle: Int { self == .dayOfWeek ? 7 : range.count }

    private var names: [String] {
        switch self {
        case .month: Self.months
        case .dayOfWeek: Self.weekdays
        case .minute, .hour, .dayOfMonth: []
        }
    }

    /// The allowed values: `0 to 7 or SUN to SAT`.
    var allowed: String {
        guard let first = names.first, let last = names.last else { return "\(range.lowerBound) to \(range.upperBound)" }
        return "\(range.lowerBound) to \(range.upperBound) or \(first) to \(last)"
    }

    /// The values of a list such as `1-5,*/10,FRI-MON`, as a bit set.
    func values(of list: Substring) throws(CronFieldError) -> UInt64 {
        var values: UInt64 = 0
        for item in list.split(separator: ",", omittingEmptySubsequences: false) { values |= try self.values(ofItem: item) }
        return values
    }

    private func values(ofItem item: Substring) throws(CronFieldError) -> UInt64 {
        let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let base = parts.first ?? ""
        let ends = base.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        var (first, last) = (range.lowerBound, range.lowerBound + cycle - 1)
        if base != "*" {
            first = try value(ends.first ?? "")
            last = try ends.count > 1 ? value(ends[1]) : first
            guard parts.count == 1 || ends.count > 1 else {
                throw fault(item, "a step needs a range: write \(base)-\(range.lowerBound + cycle - 1)/\(parts[1])")
            }
        }
        // A range whose end is before its start wraps around: FRI-MON.
        if last < first { last += cycle }
        let step = parts.count > 1 ? try self.step(parts[1]) : 1
        return stride(from: first, through: last, by: step).reduce(0) { values, value in
            values | 1 << UInt64((value - range.lowerBound) % cycle + range.lowerBound)
        }
    }

    private func value(_ text: Substring) throws(CronFieldError) -> Int {
        if let index = names.firstIndex(of: text.uppercased()) { return index + range.lowerBound }
        guard let number = Self.number(text), range.contains(number) else { throw fault(text, "use \(allowed)") }
        return number
    }

    private func step(_ text: Substring) throws(CronFieldError) -> Int {
        guard let number = Self.number(text), (1...range.upperBound).contains(number) else {
            throw fault(text, "use a step of 1 to \(range.upperBound)")
        }
        return number
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    private func fault(_ value: Substring, _ fix: String) -> CronFieldError {
        CronFieldError(field: self, value: String(value), fix: fix)
    }
}

/// An error in a field.
struct CronFieldError: Error {
    let field: CronField
    let value: String
    /// A hint with the values that the field accepts.
    let fix: String
}

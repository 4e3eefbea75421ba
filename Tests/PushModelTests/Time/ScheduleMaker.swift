import Support

@testable import PushModel

/// A random schedule, as text and as values. The values come first, and the text is made from them.
struct ScheduleMaker {
    struct Field {
        var text: String
        var values: Set<Int>
        var isStar: Bool { text.hasPrefix("*") }
    }

    var minute: Field
    var hour: Field
    var day: Field
    var month: Field
    var weekday: Field

    var text: String { [minute, hour, day, month, weekday].map(\.text).joined(separator: " ") }

    /// Any day, at midnight.
    init(dayOf random: inout SplitMix64) {
        let midnight = Field(text: "0", values: [0])
        (minute, hour) = (midnight, midnight)
        day = Self.field(1...31, &random)
        // These days alone might never fire.
        if day.values.allSatisfy({ $0 > 28 }) { day = Field(text: "*", values: Set(1...31)) }
        month = Self.field(1...12, &random)
        weekday = Self.field(0...6, &random)
    }

    /// Any time, nearly every day.
    init(timeOf random: inout SplitMix64) {
        minute = Self.field(0...59, &random)
        hour = Self.field(0...23, &random)
        day = Field(text: "*", values: Set(1...31))
        month = Field(text: "*", values: Set(1...12))
        weekday = random.chance(80) ? Field(text: "*", values: Set(0...6)) : Self.field(0...6, &random)
    }

    func fires(on date: CivilDate) -> Bool {
        guard month.values.contains(date.month) else { return false }
        let fits = (day.values.contains(date.day), weekday.values.contains(date.weekday))
        return day.isStar || weekday.isStar ? fits.0 && fits.1 : fits.0 || fits.1
    }

    func fires(at time: LocalTime) -> Bool {
        hour.values.contains(time.hour) && minute.values.contains(time.minute) && time.second == 0 && fires(on: time.date)
    }

    private static func field(_ range: ClosedRange<Int>, _ random: inout SplitMix64) -> Field {
        let step = Int.random(in: 1...max(2, range.upperBound / 3), using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return Field(text: "*", values: Set(range))
        case 1: return Field(text: "*/\(step)", values: Set(range.filter { ($0 - range.lowerBound) % step == 0 }))
        case 2, 3:
            let values = (0..<Int.random(in: 1...3, using: &random)).map { _ in Int.random(in: range, using: &random) }
            return Field(text: values.map(String.init).joined(separator: ","), values: Set(values))
        default:
            let (first, last) = (Int.random(in: range, using: &random), Int.random(in: range, using: &random))
            let around = first <= last ? Array(first...last) : Array(first...range.upperBound) + Array(range.lowerBound...last)
            let isStepped = random.chance(50)
            let values = around.enumerated().filter { !isStepped || $0.offset % step == 0 }.map(\.element)
            return Field(text: "\(first)-\(last)\(isStepped ? "/\(step)" : "")", values: Set(values))
        }
    }
}

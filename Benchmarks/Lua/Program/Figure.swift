/// The limit for a figure.
enum Goal {
    case none
    case ratio(Double)
    case value(Double)
}

enum Unit {
    case nanoseconds, milliseconds, bytes

    func text(_ value: Double) -> String {
        switch self {
        case .nanoseconds: value < 1_000 ? "\(fixed(value, 1)) ns" : "\(fixed(value / 1_000, 2)) µs"
        case .milliseconds: "\(fixed(value, 1)) ms"
        case .bytes: "\(fixed(value, 0)) B"
        }
    }
}

/// One line of the table.
struct Figure {
    var name: String
    var value: Double
    var unit: Unit
    var rival: Double?
    var goal = Goal.none

    var ratio: Double? { rival.map { value / $0 } }

    var isBeyondGoal: Bool {
        switch goal {
        case .none: false
        case .ratio(let limit): (ratio ?? 0) > limit
        case .value(let limit): value > limit
        }
    }

    var line: String {
        let goalText =
            switch goal {
            case .none: "–"
            case .ratio(let limit): "≤ \(fixed(limit, 2)) ×"
            case .value(let limit): "≤ \(unit.text(limit))"
            }
        let cells = [
            name, unit.text(value), rival.map(unit.text) ?? "–", ratio.map { fixed($0, 2) } ?? "–",
            goalText + (isBeyondGoal ? ", **missed**" : ""),
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    static func printTable(_ title: String, rival: String, _ figures: [Figure]) {
        print("\n\(title)\n\n| | ours | \(rival) | ratio | goal |\n|---|---|---|---|---|")
        for figure in figures { print(figure.line) }
    }
}

/// Formats a number with this many decimal places.
func fixed(_ value: Double, _ digits: Int) -> String {
    let scale = (0..<digits).reduce(1.0) { product, _ in product * 10 }
    guard digits > 0 else { return "\(Int(value.rounded()))" }
    let scaled = Int((value * scale).rounded())
    let fraction = "\(abs(scaled) % Int(scale))"
    return "\(scaled / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
}

import Glibc
import Heap

/// One line of a table: a measured value and its goal.
struct Figure {
    let name: String
    let value: String
    let goal: String

    init(_ name: String, _ value: String, goal: String = "–") {
        self.name = name
        self.value = value
        self.goal = goal
    }

    static func printTable(_ title: String, _ figures: [Figure]) {
        print("\n| \(title) | measured | goal |\n|---|---:|---:|")
        for figure in figures { print("| \(figure.name) | \(figure.value) | \(figure.goal) |") }
        fflush(nil)
    }
}

/// The times of several rounds in seconds.
struct Rounds {
    private var times: [Double] = []

    mutating func append(_ time: Double) { times.append(time) }

    var median: Double { times.sorted()[times.count / 2] }

    var least: Double { times.min() ?? 0 }
}

enum Measurement {
    /// The CPU time of this thread, which other work on the machine affects less than elapsed time.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Returns the CPU seconds that the body uses.
    static func time(_ body: () throws -> Void) rethrows -> Double {
        let begin = now
        try body()
        return now - begin
    }

    /// Returns the bytes of the heap in use.
    static var heap: Int { heap_in_use() }

    /// Formats a duration with three digits.
    static func text(_ seconds: Double) -> String {
        for (unit, size) in [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)] where seconds >= size { return "\(digits(seconds / size)) \(unit)" }
        return "\(digits(seconds / 1e-9)) ns"
    }

    static func digits(_ value: Double) -> String {
        let places = value >= 100 ? 0 : value >= 10 ? 1 : 2
        let scale = places == 0 ? 1 : places == 1 ? 10 : 100
        let whole = Int((value * Double(scale)).rounded())
        guard places > 0 else { return "\(whole)" }
        let rest = "\(whole % scale)"
        return "\(whole / scale).\(String(repeating: "0", count: places - rest.count))\(rest)"
    }
}

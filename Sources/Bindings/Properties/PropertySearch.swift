import Lua
import PushModel

/// Looks for a case in which a property does not hold, and for the smallest one that fails in the same way.
///
/// Each case is a run of its own. The result depends on the seed and the name only.
struct PropertySearch<Result: Sendable> {
    let limits: PropertyLimits
    let seed: UInt64
    /// The name of the property. Properties of the same seed get different cases.
    let name: String
    /// Whether there is time for further runs.
    let hasTime: () -> Bool
    /// Adds the result of a case that held to those before it.
    let add: (_ before: Result, _ next: Result) -> Result
    let run: (PropertyDraws) async throws(PushError) -> Attempt

    /// A case that was run.
    struct Attempt: Sendable {
        var result: Result
        var end: End
    }

    enum End: Sendable, Equatable {
        case held
        /// The generators found no suitable case.
        case discarded
        case failed(Failure)
    }

    /// The identity of a failure: a smaller case must fail with the same code at the same line.
    struct Failure: Sendable, Equatable {
        var code: String
        var location: SourceLocation?

        /// Whether smaller cases are not looked for: they would take as long again, or the run was cancelled.
        var isFinal: Bool { code.hasPrefix("budget.") || code == "cancelled" }
    }

    enum Outcome: Sendable {
        /// It held in all cases.
        case held(Result)
        case failed(FailingCase)
        /// Nearly all generated cases were unsuitable. The result is that of the last one.
        case starved(Result, cases: Int)
        /// The time ended before all cases were run.
        case late(Result, cases: Int)
    }

    /// A failing case.
    struct FailingCase: Sendable {
        var result: Result
        var text: String
        /// The number of a listed case; nil for a generated one.
        var example: Int?
        /// Number of generated cases up to the first failing one.
        var cases: Int
        /// Number of times that a smaller case was found.
        var shrinks = 0
    }

    /// Maximum number of unsuitable cases per case that is run.
    private static var discardedPerCase: Int { 10 }

    func outcome() async throws(PushError) -> Outcome {
        var (held, unsuitable): (Result?, Result?)
        func hold(_ next: Result) { held = held.map { add($0, next) } ?? next }
        for example in 0..<limits.examples {
            let draws = PropertyDraws.listed(example + 1)
            let attempt = try await run(draws)
            guard attempt.end == .held else {
                return .failed(FailingCase(result: attempt.result, text: draws.text, example: example + 1, cases: 0))
            }
            hold(attempt.result)
        }
        var (number, discarded) = (0, 0)
        while true {
            if number >= limits.cases, let held { return .held(held) }
            if number + discarded > 0, !hasTime() {
                if let held { return .late(held, cases: number) }
                if let unsuitable { return .starved(unsuitable, cases: number) }
            }
            // The simplest case first: no generator needs luck to make it.
            let random = SeededRandom.derived(from: seed, for: "property \(name) \(number + discarded)")
            let draws = number + discarded == 0 ? PropertyDraws.replaying([]) : .random(random)
            let attempt = try await run(draws)
            switch attempt.end {
            case .held:
                number += 1
                hold(attempt.result)
            case .discarded:
                discarded += 1
                unsuitable = attempt.result
                if discarded > Self.discardedPerCase * limits.cases { return .starved(attempt.result, cases: number) }
            case .failed(let failure):
                let finding = FailingCase(result: attempt.result, text: draws.text, cases: number + 1)
                guard !failure.isFinal else { return .failed(finding) }
                var shrinking = Shrinking(search: self, failure: failure, finding: finding, record: draws.record)
                return .failed(try await shrinking.smallest())
            }
        }
    }

    /// The search for a smaller case.
    private struct Shrinking {
        let search: PropertySearch
        let failure: Failure
        var finding: FailingCase
        var record: PropertyDraws.Record
        private var attempts = 0
        private var tried: Set<[Int]> = []

        init(search: PropertySearch, failure: Failure, finding: FailingCase, record: PropertyDraws.Record) {
            self.search = search
            self.failure = failure
            self.finding = finding
            self.record = record
        }

        /// Repeats all ways of shrinking until none finds a smaller case.
        mutating func smallest() async throws(PushError) -> FailingCase {
            var before = -1
            while before != finding.shrinks {
                before = finding.shrinks
                try await removeSpans()
                try await simplifySpans()
                try await lowerNumbers()
                if before == finding.shrinks { try await lowerPairs() }
            }
            return finding
        }

        /// Runs a case, and keeps it if it is smaller and fails in the same way.
        private mutating func accepts(_ numbers: [Int]) async throws(PushError) -> Bool {
            guard attempts < search.limits.shrinks, search.hasTime(), tried.insert(numbers).inserted else { return false }
            attempts += 1
            let draws = PropertyDraws.replaying(numbers)
            let attempt = try await search.run(draws)
            let found = draws.record
            guard attempt.end == .failed(failure), found.isSmaller(than: record) else { return false }
            record = found
            finding.result = attempt.result
            finding.text = draws.text
            finding.shrinks += 1
            return true
        }

        private mutating func removeSpans() async throws(PushError) {
            // From the end, so that the spans before stay where they are.
            var index = record.spans.count - 1
            while index >= 0 {
                if index < record.spans.count, !record.spans[index].isEmpty {
                    var numbers = record.numbers
                    numbers.removeSubrange(record.spans[index])
                    _ = try await accepts(numbers)
                }
                index -= 1
            }
        }

        private mutating func simplifySpans() async throws(PushError) {
            var index = 0
            while index < record.spans.count {
                var numbers = record.numbers
                for place in record.spans[index] { numbers[place] = 0 }
                if numbers != record.numbers { _ = try await accepts(numbers) }
                index += 1
            }
        }

        private mutating func lowerNumbers() async throws(PushError) {
            var place = 0
            while place < record.numbers.count {
                try await lower([place])
                place += 1
            }
        }

        /// Lowers two equal numbers together, for properties of values that occur twice.
        private mutating func lowerPairs() async throws(PushError) {
            var first = 0
            while first < record.numbers.count {
                var second = first + 1
                while second < record.numbers.count {
                    if record.numbers[first] == record.numbers[second] { try await lower([first, second]) }
                    second += 1
                }
                first += 1
            }
        }

        /// Looks for the lowest number at the places, which have the same: 0, or else by halving the range below it.
        private mutating func lower(_ places: [Int]) async throws(PushError) {
            guard record.numbers[places[0]] > 0, try await !accepts(changed(places, to: 0)) else { return }
            var low = 0
            while let last = places.last, last < record.numbers.count, record.numbers[places[0]] - low > 1 {
                let middle = low + (record.numbers[places[0]] - low) / 2
                if try await !accepts(changed(places, to: middle)) { low = middle }
            }
        }

        private func changed(_ places: [Int], to number: Int) -> [Int] {
            var numbers = record.numbers
            for place in places { numbers[place] = number }
            return numbers
        }
    }
}

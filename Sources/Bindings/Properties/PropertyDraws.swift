import PushModel
import Synchronization

/// The numbers from which the generators of a property make one case.
///
/// A case follows from its numbers alone. They are drawn at random, or given: the search for a smaller case changes them and runs the
/// property again. 0 stands for the simplest value everywhere, and after the given numbers only zeros follow.
final class PropertyDraws: Sendable {
    /// The numbers that were drawn, and which of them belong together.
    struct Record: Sendable, Equatable {
        var numbers: [Int] = []
        /// The numbers of each generated value, outer values before those inside them.
        var spans: [Range<Int>] = []

        /// Whether this case counts as smaller: it has fewer numbers, or lower ones.
        func isSmaller(than other: Record) -> Bool {
            numbers.count == other.numbers.count
                ? numbers.lexicographicallyPrecedes(other.numbers) : numbers.count < other.numbers.count
        }
    }

    /// The number of a listed case, from 1; nil for a generated one.
    let example: Int?
    private let given: [Int]
    private let random: SeededRandom?
    private let state = Mutex(State())

    private struct State {
        var record = Record()
        /// Indices of the spans that have begun and not ended.
        var open: [Int] = []
        var text = ""
    }

    /// Beyond this many numbers, all further ones are 0 and not recorded, so that each case ends.
    private static let most = 10_000

    private init(given: [Int] = [], random: SeededRandom? = nil, example: Int? = nil) {
        self.given = given
        self.random = random
        self.example = example
    }

    static func listed(_ example: Int) -> PropertyDraws { PropertyDraws(example: example) }

    static func random(_ source: SeededRandom) -> PropertyDraws { PropertyDraws(random: source) }

    static func replaying(_ numbers: [Int]) -> PropertyDraws { PropertyDraws(given: numbers) }

    var record: Record { state.withLock { $0.record } }

    /// The case as Lua text.
    var text: String { state.withLock { $0.text } }

    func setText(_ text: String) { state.withLock { $0.text = text } }

    /// A number from 0 to `most`.
    func draw(_ most: Int) -> Int {
        state.withLock { state in
            let place = state.record.numbers.count
            guard place < Self.most, most > 0 else { return 0 }
            let number = place < given.count ? min(given[place], most) : random.map { Self.number($0, most) } ?? 0
            state.record.numbers.append(number)
            return number
        }
    }

    func beginSpan() {
        state.withLock { state in
            let place = state.record.numbers.count
            state.open.append(state.record.spans.count)
            state.record.spans.append(place..<place)
        }
    }

    func endSpan() {
        state.withLock { state in
            guard let span = state.open.popLast() else { return }
            state.record.spans[span] = state.record.spans[span].lowerBound..<state.record.numbers.count
        }
    }

    /// The ends of a range and small numbers more often than others, because faults are often there.
    private static func number(_ random: SeededRandom, _ most: Int) -> Int {
        let (choice, number) = (random.next() % 8, random.next())
        return switch choice {
        case 0: 0
        case 1: most
        case 2: min(Int(number % 10), most)
        default: Int(number % (UInt64(most) + 1))
        }
    }
}

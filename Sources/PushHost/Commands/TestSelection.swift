import Bindings
import PushModel
import PushRuntime

/// Chooses which tests of the specs are run, and in which order.
struct TestSelection: Sendable {
    /// Text that the full name of a test contains.
    var filter: String?
    var shard: Shard?
    /// The tests that failed before. If it is not nil, only these are run.
    var failed: FailedTests?
    /// The seed of a random order; nil keeps the order of the files.
    var order: UInt64?

    /// A part of all tests, as `--shard` names it. A test stays in its part while others are added or removed.
    struct Shard: Sendable, Equatable {
        let number: Int
        let count: Int

        static let most = 1000

        /// Reads text such as `2/5`.
        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let number = Int(parts[0]), let count = Int(parts[1]), (1...Self.most).contains(count),
                (1...count).contains(number)
            else { return nil }
            (self.number, self.count) = (number, count)
        }

        func contains(_ test: String, of spec: String) -> Bool {
            let place = SeededRandom.derived(from: 0, for: "\(FilePath.normalized(spec)) › \(test)").next()
            return Int(place % UInt64(count)) == number - 1
        }
    }

    func matchesFilter(_ test: TestCase) -> Bool {
        guard let filter else { return true }
        return test.fullName.lowercased().contains(filter.lowercased())
    }

    /// The tests of a spec to run, with their numbers in the file, in the order in which they are run.
    func chosen(from tests: [TestCase], of spec: String) -> [(number: Int, test: TestCase)] {
        let fitting = tests.enumerated().map { (number: $0.offset + 1, test: $0.element) }.filter { _, test in
            matchesFilter(test) && shard?.contains(test.fullName, of: spec) != false && failed?.contains(test.fullName, of: spec) != false
        }
        return ordered(fitting, for: spec)
    }

    /// The items in the order of the run. `purpose` distinguishes lists that are ordered independently.
    func ordered<Item>(_ items: [Item], for purpose: String) -> [Item] {
        guard let order else { return items }
        let random = SeededRandom.derived(from: order, for: purpose)
        var items = items
        for index in items.indices.dropFirst().reversed() { items.swapAt(index, Int(random.next() % UInt64(index + 1))) }
        return items
    }
}

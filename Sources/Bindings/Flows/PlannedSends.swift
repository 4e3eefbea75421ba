import Lua
import PushModel

/// The notifications that a run has scheduled, in order. Adding and removing take constant time.
struct PlannedSends: Sendable {
    struct Entry: Sendable {
        var id: String
        var audience: String
        /// The line of the script that scheduled it.
        var location: SourceLocation?
    }

    private var entries: [Int: Entry] = [:]
    private var numbers: [String: Int] = [:]
    private var last = 0

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// Entries in the order in which they were scheduled.
    var inOrder: [Entry] { entries.sorted { $0.key < $1.key }.map(\.value) }

    mutating func append(_ entry: Entry) {
        remove(entry.id)
        last += 1
        entries[last] = entry
        numbers[entry.id] = last
    }

    mutating func append(contentsOf other: PlannedSends) {
        for entry in other.inOrder { append(entry) }
    }

    mutating func remove(_ id: String) {
        guard let number = numbers.removeValue(forKey: id) else { return }
        entries[number] = nil
    }
}

import PushModel

/// The duplicates of a run: targets whose handle another target has.
///
/// A duplicate is reported in the same step as the target that gets the push. So after a crash both are known to be done, even if one was
/// removed. If a target is removed before its batch is due, one of its duplicates substitutes for it.
struct DuplicateHandles: Sendable {
    private struct Pair {
        let original: UInt32
        let duplicate: UInt32
        var isOpen = true
    }

    /// Sorted by original, then by duplicate.
    private var pairs: [Pair]
    /// For each substitute, the original that it stands for.
    private var origins: [UInt32: UInt32] = [:]
    /// For each original, its current substitute.
    private var substitutes: [UInt32: UInt32] = [:]

    init(_ targets: Targets) {
        if targets.originals.isEmpty {
            pairs = targets.duplicates.map { Pair(original: .max, duplicate: $0) }
        } else {
            pairs = zip(targets.originals, targets.duplicates).map { Pair(original: $0, duplicate: $1) }
            pairs.sort { ($0.original, $0.duplicate) < ($1.original, $1.duplicate) }
        }
    }

    var isEmpty: Bool { pairs.isEmpty }

    /// Returns a duplicate that substitutes for a removed target. It is not a duplicate any more.
    mutating func substitute(of member: UInt32) -> UInt32? {
        let original = origins[member] ?? member
        guard let index = indexes(of: original).first(where: { pairs[$0].isOpen }) else { return nil }
        pairs[index].isOpen = false
        let substitute = pairs[index].duplicate
        (origins[substitute], substitutes[original]) = (original, substitute)
        return substitute
    }

    /// The duplicates of a target.
    func duplicates(of member: UInt32) -> [UInt32] { open(of: member).map { pairs[$0].duplicate } }

    /// Makes a duplicate a target of its own.
    mutating func release(_ duplicate: UInt32, of member: UInt32) {
        guard let index = indexes(of: origins[member] ?? member).first(where: { pairs[$0].duplicate == duplicate }) else { return }
        pairs[index].isOpen = false
    }

    /// Removes and returns the duplicates of a target that is being reported; none if a substitute has replaced it.
    mutating func take(of member: UInt32) -> [UInt32] {
        let open = open(of: member)
        for index in open { pairs[index].isOpen = false }
        return open.map { pairs[$0].duplicate }
    }

    /// Duplicates that were not reported, ascending.
    var rest: [UInt32] { pairs.lazy.filter(\.isOpen).map(\.duplicate).sorted() }

    private func open(of member: UInt32) -> [Int] {
        let original = origins[member] ?? member
        guard (substitutes[original] ?? original) == member else { return [] }
        return indexes(of: original).filter { pairs[$0].isOpen }
    }

    private func indexes(of original: UInt32) -> Range<Int> {
        var (low, high) = (0, pairs.count)
        while low < high {
            let middle = (low + high) / 2
            if pairs[middle].original < original { low = middle + 1 } else { high = middle }
        }
        let end = pairs[low...].firstIndex { $0.original != original }
        return low..<(end ?? pairs.count)
    }
}

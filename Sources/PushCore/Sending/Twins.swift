/// The duplicates of a run. Each is told together with the target that has the push in its place: one step keeps both, so that who goes
/// on after a crash knows of both, whichever has left meanwhile. Where a target leaves before its turn, a duplicate takes it.
struct Twins: Sendable {
    private struct Pair {
        let original: UInt32
        let duplicate: UInt32
        var isOpen = true
    }

    /// By originals, and those of one by their places.
    private var pairs: [Pair]
    /// Duplicates that took a turn: whose it was.
    private var origins: [UInt32: UInt32] = [:]
    /// Whose turn that of an original is now.
    private var heirs: [UInt32: UInt32] = [:]

    init(_ targets: Targets) {
        if targets.originals.isEmpty {
            pairs = targets.duplicates.map { Pair(original: .max, duplicate: $0) }
        } else {
            pairs = zip(targets.originals, targets.duplicates).map { Pair(original: $0, duplicate: $1) }
            pairs.sort { ($0.original, $0.duplicate) < ($1.original, $1.duplicate) }
        }
    }

    var isEmpty: Bool { pairs.isEmpty }

    /// Who takes the turn of a target that has left, and is a duplicate no longer.
    mutating func heir(of member: UInt32) -> UInt32? {
        let original = origins[member] ?? member
        guard let place = places(of: original).first(where: { pairs[$0].isOpen }) else { return nil }
        pairs[place].isOpen = false
        let heir = pairs[place].duplicate
        (origins[heir], heirs[original]) = (original, heir)
        return heir
    }

    /// The duplicates that a target has.
    func duplicates(of member: UInt32) -> [UInt32] { open(of: member).map { pairs[$0].duplicate } }

    /// This one is a duplicate no longer.
    mutating func release(_ duplicate: UInt32, of member: UInt32) {
        guard let place = places(of: origins[member] ?? member).first(where: { pairs[$0].duplicate == duplicate }) else { return }
        pairs[place].isOpen = false
    }

    /// The duplicates of a target that is being told; none where another has taken its turn.
    mutating func take(of member: UInt32) -> [UInt32] {
        let open = open(of: member)
        for place in open { pairs[place].isOpen = false }
        return open.map { pairs[$0].duplicate }
    }

    /// Those that were not told, ascending.
    var rest: [UInt32] { pairs.lazy.filter(\.isOpen).map(\.duplicate).sorted() }

    private func open(of member: UInt32) -> [Int] {
        let original = origins[member] ?? member
        guard (heirs[original] ?? original) == member else { return [] }
        return places(of: original).filter { pairs[$0].isOpen }
    }

    private func places(of original: UInt32) -> Range<Int> {
        var (low, high) = (0, pairs.count)
        while low < high {
            let middle = (low + high) / 2
            if pairs[middle].original < original { low = middle + 1 } else { high = middle }
        }
        let end = pairs[low...].firstIndex { $0.original != original }
        return low..<(end ?? pairs.count)
    }
}

extension SendPipeline {
    typealias Reporting = ([SettledTarget]) async -> Void

    /// An attempt with those who stand at its targets.
    func batch(_ attempt: DeliveryRun.Attempt, of run: inout DeliveryRun, _ look: Looking) async -> DeliveryRun.Batch {
        let group = run.groups[attempt.group].recipients
        var batch = DeliveryRun.Batch(attempt: attempt, size: run.groups[attempt.group].body.count)
        var members = run.members(of: attempt)
        while !members.isEmpty {
            let left = batch.add(members, await look(members, group))
            members = run.twins.isEmpty ? [] : left.compactMap { run.twins.heir(of: $0) }
        }
        if !run.twins.isEmpty { await part(&batch, group, of: &run, look) }
        return batch
    }

    /// Duplicates that have another handle by now than those that stand for them, be it they or those that have a new one, get theirs.
    private func part(_ batch: inout DeliveryRun.Batch, _ group: RecipientGroup, of run: inout DeliveryRun, _ look: Looking) async {
        var pairs: [(original: Int, duplicate: UInt32)] = []
        for (index, member) in batch.members.enumerated() {
            for duplicate in run.twins.duplicates(of: member) { pairs.append((index, duplicate)) }
        }
        guard !pairs.isEmpty else { return }
        var handles: [Int: Set<DeviceHandle>] = [:]
        for (pair, recipient) in zip(pairs, await look(pairs.map(\.duplicate), group)) where !recipient.hasLeft {
            let isNew = handles[pair.original, default: [batch.recipients[pair.original].handle]].insert(recipient.handle).inserted
            guard isNew else { continue }
            run.twins.release(pair.duplicate, of: batch.members[pair.original])
            _ = batch.add([pair.duplicate], [recipient])
        }
    }

    /// Reports targets that have their verdicts, and their duplicates with them.
    func tell(_ settled: [SettledTarget], of run: inout DeliveryRun, _ look: Looking, _ report: Reporting) async {
        var settled = settled
        if !run.twins.isEmpty {
            let duplicates = settled.flatMap { run.twins.take(of: UInt32(truncatingIfNeeded: $0.order)) }
            if !duplicates.isEmpty { settled += zip(duplicates, await look(duplicates, RecipientGroup())).map(Self.skipped) }
        }
        if !settled.isEmpty { await report(settled) }
    }

    static func skipped(_ duplicate: UInt32, _ recipient: Recipient) -> SettledTarget {
        SettledTarget(order: SettledTarget.order(ofDuplicate: duplicate), result: DeliveryResult(device: recipient.skippedAsDuplicate))
    }
}

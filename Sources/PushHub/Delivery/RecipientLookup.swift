import PushModel

/// Looks up the current recipients of a run's members, which may have been removed or changed since its targets were found.
struct RecipientLookup: Sendable {
    /// Looks up the current recipients of members of a group, in their order. Called from the task of the run.
    typealias Looking = @Sendable ([UInt32], RecipientGroup) async -> [Recipient]

    let look: Looking

    /// Direct handles need no lookup.
    init(_ targets: Targets, _ lookUp: @escaping Looking) {
        guard let direct = targets.direct else {
            look = lookUp
            return
        }
        look = { members, _ in members.map { Recipient(handle: direct[Int($0)]) } }
    }

    /// An attempt with its current recipients. Substitutes replace targets that were removed.
    func batch(_ attempt: DeliveryRun.Attempt, of run: inout DeliveryRun) async -> DeliveryRun.Batch {
        let group = run.groups[attempt.group].recipients
        var batch = DeliveryRun.Batch(attempt: attempt, size: run.groups[attempt.group].body.count)
        var members = run.members(of: attempt)
        while !members.isEmpty {
            let left = batch.add(members, await look(members, group))
            members = run.duplicateHandles.isEmpty ? [] : left.compactMap { run.duplicateHandles.substitute(of: $0) }
        }
        if !run.duplicateHandles.isEmpty { await addFormerDuplicates(to: &batch, group, of: &run) }
        return batch
    }

    /// Adds duplicates as recipients whose handle now differs from their original's, because either registration has changed.
    private func addFormerDuplicates(to batch: inout DeliveryRun.Batch, _ group: RecipientGroup, of run: inout DeliveryRun) async {
        var pairs: [(original: Int, duplicate: UInt32)] = []
        for (index, member) in batch.members.enumerated() {
            for duplicate in run.duplicateHandles.duplicates(of: member) { pairs.append((index, duplicate)) }
        }
        guard !pairs.isEmpty else { return }
        var handles: [Int: Set<DeviceHandle>] = [:]
        for (pair, recipient) in zip(pairs, await look(pairs.map(\.duplicate), group)) where !recipient.hasLeft {
            let isNew = handles[pair.original, default: [batch.recipients[pair.original].handle]].insert(recipient.handle).inserted
            guard isNew else { continue }
            run.duplicateHandles.release(pair.duplicate, of: batch.members[pair.original])
            _ = batch.add([pair.duplicate], [recipient])
        }
    }

    /// Final results together with those of the duplicates of their targets.
    func withDuplicates(_ completed: [CompletedTarget], of run: inout DeliveryRun) async -> [CompletedTarget] {
        guard !run.duplicateHandles.isEmpty else { return completed }
        let duplicates = completed.flatMap { run.duplicateHandles.take(of: UInt32(truncatingIfNeeded: $0.order)) }
        guard !duplicates.isEmpty else { return completed }
        return completed + zip(duplicates, await look(duplicates, RecipientGroup())).map(CompletedTarget.skipped)
    }
}

extension CompletedTarget {
    /// The result of a duplicate, which gets nothing.
    static func skipped(_ duplicate: UInt32, _ recipient: Recipient) -> CompletedTarget {
        CompletedTarget(order: order(ofDuplicate: duplicate), result: DeliveryResult(device: recipient.duplicateOutcome))
    }
}

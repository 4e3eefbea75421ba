import PushModel

/// The removals of devices that are held for the operator, because they exceeded the limit of their notification.
///
/// Not thread-safe: it is part of the actor that owns the directory.
struct HeldRemovals {
    let directory: RegistrationDirectory

    private var context: HubContext { directory.context }

    private static let heldStep = 500

    /// Removes the devices of held removals, as if they had been removed when their notifications were rejected.
    ///
    /// If a step cannot be stored, the error is thrown; earlier steps stay applied.
    /// - Parameter isDryRun: whether to count only.
    func apply(
        _ filter: HeldRemovalFilter, isDryRun: Bool = false
    ) async throws(PushError) -> HeldRemovalResult {
        try await resolve(filter, "applied", isDryRun: isDryRun) { step throws(PushError) in
            let (remover, invalid) = (InvalidHandleRemover(directory: directory), step.map { InvalidHandle($0) })
            let cleared = isDryRun ? try await remover.removableHandles(invalid) : try await remover.remove(invalid).cleared
            let removed = step.filter { cleared.contains($0.handle) }
            if !isDryRun {
                for removal in removed { context.metrics.pruned(removal.handle.platform, removal.reason) }
                _ = try await drop(step)
            }
            return HeldRemovalResult(devices: removed.count, outdated: step.count - removed.count)
        }
    }

    /// Drops held removals. Their devices stay registered.
    func drop(
        _ filter: HeldRemovalFilter, isDryRun: Bool = false
    ) async throws(PushError) -> HeldRemovalResult {
        try await resolve(filter, "dropped", isDryRun: isDryRun) { step throws(PushError) in
            HeldRemovalResult(devices: isDryRun ? step.count : try await drop(step))
        }
    }

    private func resolve(
        _ filter: HeldRemovalFilter, _ verb: String, isDryRun: Bool,
        _ work: ([HeldRemoval]) async throws(PushError) -> HeldRemovalResult
    ) async throws(PushError) -> HeldRemovalResult {
        try context.lifecycle.checkIsOpen()
        var (sum, number) = (HeldRemovalResult(), Int64?.none)
        while true {
            let step = try await context.store.heldRemovals(filter, below: number, limit: Self.heldStep)
            guard let last = step.last else { break }
            let part = try await work(step)
            sum = HeldRemovalResult(devices: sum.devices + part.devices, outdated: sum.outdated + part.outdated)
            number = last.number
        }
        if sum.devices > 0, !isDryRun { context.environment.note(.feedback, "\(sum.devices) held removals \(verb)") }
        return sum
    }

    /// Drops removals, except those that a later notification has held again meanwhile.
    ///
    /// - Returns: how many were dropped.
    private func drop(_ removals: [HeldRemoval]) async throws(PushError) -> Int {
        // Locked, so that none of them is held again while its rows are looked up.
        let keys = await directory.acquire(
            Set(removals.flatMap { directory.table.rows(for: $0.handle) }.map { RegistrationKey(ofRow: $0, in: directory.table) }))
        defer { directory.release(keys) }
        let dropped = try await context.store.dropHeldRemovals(removals)
        for removal in removals where dropped.contains(removal.number) {
            for row in directory.table.rows(for: removal.handle) { directory.unhold(row) }
        }
        return dropped.count
    }

    /// Holds removals. The caller holds the locks of the registrations.
    ///
    /// - Parameter isFirst: whether these are the notification's first held removals, which causes a warning.
    func hold(_ found: [InvalidHandleRow], isFirst: Bool, _ outcome: inout NotificationOutcome) async {
        let now = context.now
        let invalid = Dictionary(found.map { ($0.invalid.handle, $0.invalid) }, uniquingKeysWith: { first, _ in first })
        let handles = found.map(\.invalid.handle).uniqued()
        do throws(PushError) {
            try await context.store.hold(
                handles.compactMap { invalid[$0] }.map {
                    HeldRemoval(
                        handle: $0.handle, reason: $0.reason, notificationID: $0.notificationID, time: now, validBefore: $0.validBefore)
                })
        } catch {
            context.environment.warn(
                .feedback,
                "\(outcome.id): \(handles.count) removals could not be stored, the devices stay registered: \(error.message)")
            return
        }
        directory.hold(found.map(\.row))
        guard isFirst else { return }
        let notice = Notice.heldRemovals(percent: Int((context.settings.feedback.maxRemovedShare * 100).rounded()))
        outcome.note([notice])
        context.environment.warn(.feedback, "\(outcome.id): \(notice.text); check the environment, then use pushhost pruned apply or drop")
    }

    /// Finds the rows of removals that an earlier process held.
    func load() async throws(PushError) {
        var number: Int64?
        while true {
            let step = try await context.store.heldRemovals(HeldRemovalFilter(), below: number, limit: Self.heldStep)
            for removal in step { directory.hold(directory.table.rows(for: removal.handle)) }
            guard let last = step.last else { return }
            number = last.number
        }
    }
}

extension InvalidHandle {
    fileprivate init(_ removal: HeldRemoval) {
        self.init(
            handle: removal.handle, reason: removal.reason, notificationID: removal.notificationID, validBefore: removal.validBefore)
    }
}

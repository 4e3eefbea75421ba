/// Stores the held removals of a hub, one for each device handle. Registration changes drop those that they settle
/// (`RegistrationChange.settledRemovals`), in the same transaction.
///
/// Errors: `storage.unavailable` (503) where nothing could be stored; then nothing was.
package protocol HeldRemovalStore: Sendable {
    /// Stores removals. Of a handle that has one already, the later `validBefore` counts, and the rest stays as it is.
    func hold(_ removals: [HeldRemoval]) async throws(PushError)
    /// The newest first, those with numbers below `number`, or from the newest on for nil.
    func heldRemovals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) async throws(PushError) -> [HeldRemoval]
    /// Drops removals; the devices stay registered. One whose `validBefore` is another by now stays: it was held once more after the
    /// caller had read it.
    ///
    /// - Returns: the numbers of those that it dropped.
    func dropHeldRemovals(_ removals: [HeldRemoval]) async throws(PushError) -> Set<Int64>
}

/// Stores the held removals of a hub, one per device handle. A registration change deletes those that it settles
/// (`RegistrationChange.resolvedRemovals`) in the same transaction.
///
/// Errors: `storage.unavailable` (503) if nothing was stored.
package protocol HeldRemovalStore: Sendable {
    /// Stores removals. If a handle already has one, only its `validBefore` changes, to the later of the two.
    func hold(_ removals: [HeldRemoval]) async throws(PushError)
    /// Removals with numbers below `number`, or from the newest if nil; newest first.
    func heldRemovals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) async throws(PushError) -> [HeldRemoval]
    /// Deletes removals; the devices stay registered. A removal whose `validBefore` has changed remains: it was held again after the caller
    /// had read it.
    ///
    /// - Returns: the numbers of the deleted removals.
    func dropHeldRemovals(_ removals: [HeldRemoval]) async throws(PushError) -> Set<Int64>
}

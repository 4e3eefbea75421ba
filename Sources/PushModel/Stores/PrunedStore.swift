/// Stores a hub's pruned devices. They are added by the change that removes them (`RegistrationChange.pruned`) and deleted by the one that
/// restores them (`restored`).
///
/// Errors: `storage.unavailable` (503) if nothing was stored.
package protocol PrunedStore: Sendable {
    /// Pruned devices with numbers below `number`, or from the latest if nil; latest first.
    func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice]
    /// Deletes at most `limit` devices pruned before `time`. Returns their number.
    ///
    /// - Parameter keepsUnreported: whether devices whose removal has not been reported are exempt.
    func forgetPruned(before time: Timestamp, limit: Int, keepsUnreported: Bool) async throws(PushError) -> Int
    /// Pruned devices whose report has not been acknowledged, oldest first. Those returned count as possibly reported: if one is restored
    /// later, that is reported as well.
    func unreportedPruned(limit: Int) async throws(PushError) -> [PrunedDevice]
    /// Number of pruned devices whose report has not been acknowledged.
    func countUnreportedPruned() async throws(PushError) -> Int
    /// Marks all devices up to this number as reported.
    func acknowledgePruned(upTo number: Int64) async throws(PushError)
    /// Marks the oldest devices as reported if more than `most` are not. Returns their number.
    func dropUnreportedPruned(beyond most: Int) async throws(PushError) -> Int
}

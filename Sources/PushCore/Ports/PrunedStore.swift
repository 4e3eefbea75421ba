/// Where a hub's pruned devices lie aside. They come with the change that removes them (`RegistrationChange.pruned`) and go with the one
/// that brings them back (`restored`).
///
/// Errors: `storage.unavailable` (503) where nothing could be kept; then nothing was.
package protocol PrunedStore: Sendable {
    /// The latest first, those with numbers below `number`, or from the latest on for nil.
    func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice]
    /// Forgets those that left before `moment`, at most `limit`; answers how many.
    ///
    /// - Parameter keepsUntold: whether those stay of which somebody is still to be told.
    func forgetPruned(before moment: Timestamp, limit: Int, keepsUntold: Bool) async throws(PushError) -> Int
    /// Those of which nobody has acknowledged to have been told, the first of them first. From now on they count as told by chance: what
    /// is brought back of them becomes news again.
    func untoldPruned(limit: Int) async throws(PushError) -> [PrunedDevice]
    /// How many of these there are.
    func countUntoldPruned() async throws(PushError) -> Int
    /// Somebody has been told of all up to this one.
    func acknowledgePruned(upTo number: Int64) async throws(PushError)
    /// Gives up on telling of the first of them where there are more than `most`; answers of how many.
    func dropUntoldPruned(beyond most: Int) async throws(PushError) -> Int
}

/// Stores requests for approval and their results.
///
/// Errors: `storage.unavailable` (503), `storage.corrupt` (500).
package protocol ApprovalStore: Sendable {
    /// Stores a new request under the next number.
    ///
    /// If the same requester has a pending, unexpired request for the same send to that hub, or any request under the same idempotency key,
    /// returns that one and stores nothing, whatever the limits.
    ///
    /// - Parameters:
    ///   - most: maximum number of pending, unexpired requests.
    ///   - each: maximum number of those from one requester.
    func add(_ approval: Approval, most: Int, each: Int) async throws(PushError) -> ApprovalAddition
    func approval(_ number: Int64) async throws(PushError) -> Approval?
    /// The latest request made under an idempotency key.
    func approval(under key: String, by requester: Principal, atHub hub: Int64) async throws(PushError) -> Approval?
    /// Requests before `number`, or from the newest if nil; newest first. In one state, or in all if nil.
    func approvals(before number: Int64?, limit: Int, state: Approval.State?) async throws(PushError) -> [Approval]
    /// Replaces a request. Returns false and changes nothing if its stored state is no longer `state`.
    func replace(_ approval: Approval, from state: Approval.State) async throws(PushError) -> Bool
}

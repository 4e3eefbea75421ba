/// What became of a send that is to wait.
package enum AddedApproval: Sendable, Equatable {
    /// It waits, or one does that stands for it.
    case kept(Approval)
    /// As many wait as may.
    case full
    /// As many wait of those that its requester has asked for as may.
    case fullForRequester
}

/// Where sends lie that wait for somebody's leave, and what became of them.
///
/// Errors: `storage.unavailable` (503), `storage.corrupt` (500).
package protocol ApprovalStore: Sendable {
    /// Keeps a new one under the next number. Where the same requester waits at that hub for the same already, and not longer than it
    /// may, or under the same idempotency key, that one is answered and nothing kept, however many wait.
    ///
    /// - Parameters:
    ///   - most: of all that wait at that moment, and not longer than they may.
    ///   - each: of those that the same requester has asked for.
    func add(_ approval: Approval, most: Int, each: Int) async throws(PushError) -> AddedApproval
    func approval(_ number: Int64) async throws(PushError) -> Approval?
    /// The last one that was asked for under an idempotency key.
    func approval(under key: String, by requester: Principal, atHub hub: Int64) async throws(PushError) -> Approval?
    /// Newest first, those before a number or from the newest on; of one state or, for nil, of all.
    func approvals(before number: Int64?, limit: Int, state: Approval.State?) async throws(PushError) -> [Approval]
    /// Puts what has become of one in its place; false where it is not in that state any more, and then nothing has changed.
    func replace(_ approval: Approval, from state: Approval.State) async throws(PushError) -> Bool
}

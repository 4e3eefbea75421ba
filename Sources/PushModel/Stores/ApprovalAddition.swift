/// The result of adding a request for approval.
package enum ApprovalAddition: Sendable, Equatable {
    /// Pending: the new request, or the existing one for the same send.
    case pending(Approval)
    /// Too many requests are pending.
    case full
    /// The requester has too many pending requests.
    case fullForRequester
}

/// The effect of a blocking hook's failure or timeout.
public enum FailurePolicy: Sendable {
    /// Continue as if the hook did not exist.
    case failOpen
    /// Reject the request with status 503.
    case failClosed
}

/// Thrown by a hook to reject a request. The requester gets the reason, with status 403. Any other error counts as a failure of the hook.
public struct Veto: Error {
    public let reason: String

    public init(_ reason: String) { self.reason = reason }
}

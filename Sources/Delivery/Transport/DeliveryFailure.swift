import PushModel

/// A verdict reached without a response to the notification itself.
struct DeliveryFailure: Error, Equatable {
    let verdict: Verdict
    /// Whether the sender is at fault (no access token, or a token rejected twice), so that the rest of the batch would fail too.
    var isForAll = false
}

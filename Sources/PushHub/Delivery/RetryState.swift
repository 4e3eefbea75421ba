import PushModel

/// The retry state of a notification whose push services have deferred some of its devices.
struct RetryState: Sendable, Equatable {
    struct Wait: Sendable, Equatable {
        /// The number of the next attempt.
        var number: Int
        var time: Timestamp
    }

    /// Start of the delivery, by the hub's clock.
    var began: Timestamp
    /// Start of the delivery. This and all other times are by the monotonic clock.
    var start: Timestamp
    var services: [PushService: Wait]
    /// The earliest time at which devices deferred by hooks resume; nil if there are none.
    var deferredUntil: Timestamp?
}

/// The cause of new runs, which is marked as processed with them.
package struct RunCause: Sendable, Equatable {
    /// By schedule name, the time up to which due times have been processed.
    package var handledUntil: [String: Timestamp]
    /// The number of the last processed event; nil if the cause is not an event.
    package var events: Int64?

    package init(handledUntil: [String: Timestamp] = [:], events: Int64? = nil) {
        self.handledUntil = handledUntil
        self.events = events
    }
}

/// The time since this was first asked for, by a monotonic clock. It measures durations that are shorter than a `Timestamp` can tell.
package enum ProcessUptime {
    private static let start = ContinuousClock.now

    package static var now: Duration { ContinuousClock.now - start }
}

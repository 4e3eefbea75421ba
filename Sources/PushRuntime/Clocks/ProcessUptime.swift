/// Uptime of the process, by a monotonic clock, for durations below the resolution of `Timestamp`. It starts at the first use.
package enum ProcessUptime {
    private static let start = ContinuousClock.now

    package static var now: Duration { ContinuousClock.now - start }
}

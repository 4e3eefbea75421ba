/// The rules by which the runs of a flow overlap, repeat and end, and the number of devices that they may reach.
package struct RunPolicy: Sendable, Equatable {
    /// Maximum number of concurrent runs.
    package var concurrency: Int
    /// What to do with a trigger when `concurrency` is reached; nil: the default of the trigger.
    package var overlap: OverlapPolicy?
    package var guarantee: RunGuarantee
    /// Maximum duration of a run; nil: unlimited.
    package var timeout: Duration?
    /// Maximum CPU time of a run, in its script and in what the server does for it.
    package var cpuLimit: Duration
    /// Maximum number of devices per send without approval; nil: only the server's ceiling applies.
    package var ceiling: Int?

    package init(
        concurrency: Int = 1, overlap: OverlapPolicy? = nil, guarantee: RunGuarantee = .atMostOnce, timeout: Duration? = nil,
        cpuLimit: Duration = Self.standardCPULimit, ceiling: Int? = nil
    ) {
        self.concurrency = concurrency
        self.overlap = overlap
        self.guarantee = guarantee
        self.timeout = timeout
        self.cpuLimit = cpuLimit
        self.ceiling = ceiling
    }

    package static let standardCPULimit: Duration = .seconds(10)

    package func overlap(of trigger: RunTrigger) -> OverlapPolicy { overlap ?? trigger.overlap }
}

/// The action for a trigger when the flow's concurrency is reached.
package enum OverlapPolicy: String, Sendable, CaseIterable {
    /// Do not run; record the run as skipped.
    case skip
    /// Queue the run.
    case queue
    /// Cancel the oldest run and start the new one.
    case replace
}

/// The number of times that a run may be started if the server crashes.
package enum RunGuarantee: String, Sendable, CaseIterable {
    /// A run that had started is not repeated.
    case atMostOnce = "at-most-once"
    /// A run that had not ended is repeated.
    case atLeastOnce = "at-least-once"
}

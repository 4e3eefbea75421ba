import PushModel

/// The settings of a hub.
package struct HubSettings: Sendable, Equatable {
    /// The hub's name, also used in metrics.
    package var name: String
    /// How long a registration lives after its last update. Nil, Azure's default, means for ever.
    package var registrationTTL: Duration?
    package var acceptance: Acceptance
    package var limits: Limits
    package var dispatch: Dispatch
    package var feedback: Feedback
    package var retention: Retention

    package init(
        name: String = "hub", registrationTTL: Duration? = nil, acceptance: Acceptance = Acceptance(), limits: Limits = Limits(),
        dispatch: Dispatch = Dispatch(), feedback: Feedback = Feedback(), retention: Retention = Retention()
    ) {
        (self.name, self.registrationTTL) = (name, registrationTTL)
        (self.acceptance, self.limits, self.dispatch) = (acceptance, limits, dispatch)
        (self.feedback, self.retention) = (feedback, retention)
    }

    /// Settings of the acceptance of notifications.
    package struct Acceptance: Sendable, Equatable {
        /// The format of notification ids.
        package enum Naming: Sendable, Equatable {
            /// `n-0001`, `n-0002`, …; unique in one run.
            case short
            /// As in Azure, and unique across hubs: 32 random hexadecimal digits, the time, the number in the hub, and 1.
            case unique
        }

        package var naming: Naming
        /// Whether a send with a native payload above the limit of its push service is rejected. Otherwise the notification is accepted,
        /// and its devices get the outcome `InvalidNotificationSize`, as in Azure.
        package var refusesLargePayloads: Bool

        package init(naming: Naming = .short, refusesLargePayloads: Bool = true) {
            (self.naming, self.refusesLargePayloads) = (naming, refusesLargePayloads)
        }
    }

    /// Limits of a hub's concurrent work.
    package struct Limits: Sendable, Equatable {
        /// Maximum number of batches of the hub's outbox notifications in flight to each push service. Also the maximum number of its
        /// paced notifications in progress, and the base of the number of all others: see ``SendScheduler``.
        package var concurrentNotifications: Int
        /// Maximum total number of devices of the large sends in progress. A larger one runs alone.
        package var concurrentDevices: Int
        /// Number of tags up to which a send without recipients looks for similar tags. Comparing one takes a microsecond, and in hubs
        /// where most users have no device most sends find no recipient.
        package var comparableTags: Int

        package init(concurrentNotifications: Int = 64, concurrentDevices: Int = .max, comparableTags: Int = .max) {
            (self.concurrentNotifications, self.concurrentDevices) = (concurrentNotifications, concurrentDevices)
            self.comparableTags = comparableTags
        }
    }

    /// Settings of a notification's batches: how they are dispatched, retried and recorded.
    package struct Dispatch: Sendable, Equatable {
        /// Whether the platforms of a notification are delivered concurrently, and a notification that has to wait frees its slot.
        /// Otherwise batches run one after the other in a reproducible order, as a rehearsal needs.
        package var isConcurrent: Bool
        /// Number of devices in a batch for a push service.
        package var devicesPerBatch: Int
        /// Maximum number of batches of one notification in flight to each push service, with concurrent delivery. Those of all
        /// notifications together are limited by `Limits.concurrentNotifications`.
        package var batchesInFlight: Int
        /// Number of devices whose results are stored in one step. After a crash, at most these and the batches in flight get the
        /// notification twice: less than 5,000 with one push service.
        package var devicesPerStep: Int
        /// Time from a device's first attempt to its last while its push service fails. Azure's is 30 minutes.
        package var retryWindow: Duration
        /// Maximum share by which a retry pause is lengthened at random, so that retries do not coincide.
        package var retryJitter: Double

        package init(
            isConcurrent: Bool = false, devicesPerBatch: Int = 500, batchesInFlight: Int = 4, devicesPerStep: Int = 2_500,
            retryWindow: Duration = .seconds(1800), retryJitter: Double = 0
        ) {
            (self.isConcurrent, self.devicesPerBatch, self.batchesInFlight) = (isConcurrent, devicesPerBatch, batchesInFlight)
            (self.devicesPerStep, self.retryWindow, self.retryJitter) = (devicesPerStep, retryWindow, retryJitter)
        }
    }

    /// Settings of the removal of devices whose handles push services report as invalid.
    package struct Feedback: Sendable, Equatable {
        /// Whether pruned devices are reported to a receiver. They are then stored until it has acknowledged them.
        package var notifiesPruned: Bool
        /// The share of a notification's audience that its results may remove, 0 to 1; further removals are held. See ``RemovalBrake``.
        package var maxRemovedShare: Double

        package init(notifiesPruned: Bool = false, maxRemovedShare: Double = 1) {
            (self.notifiesPruned, self.maxRemovedShare) = (notifiesPruned, maxRemovedShare)
        }
    }

    /// Retention times of data that is not needed for delivery.
    package struct Retention: Sendable, Equatable {
        /// How long pruned devices can be restored.
        package var pruned: Duration
        /// How long a plan is stored.
        package var plans: Duration
        /// Maximum number of stored plans. One with a million devices takes about 20 MB.
        package var maximumPlans: Int

        package init(pruned: Duration = .seconds(86_400), plans: Duration = .seconds(7 * 86_400), maximumPlans: Int = 50) {
            (self.pruned, self.plans, self.maximumPlans) = (pruned, plans, maximumPlans)
        }
    }
}

import PushModel

/// The settings of a hub.
package struct HubSettings: Sendable, Equatable {
    /// The format of notification ids.
    package enum Naming: Sendable, Equatable {
        /// `n-0001`, `n-0002`, …; unique in one run.
        case short
        /// As in Azure, and unique across hubs: 32 random hexadecimal digits, the time, the number in the hub, and 1.
        case unique
    }

    /// The hub's name, also used in metrics.
    package var name: String
    /// How long a registration lives after its last update. Nil, Azure's default, means for ever.
    package var registrationTTL: Duration?
    package var naming: Naming
    /// Whether a send with a native payload above the limit of its push service is rejected. Otherwise the notification is accepted, and
    /// its devices get the outcome `InvalidNotificationSize`, as in Azure.
    package var refusesLargePayloads: Bool
    /// Maximum number of outbox notifications that are delivered at a time on one platform.
    package var concurrentNotifications: Int
    /// Maximum total number of devices of the large sends in progress. A larger one runs alone.
    package var concurrentDevices: Int
    /// Whether the platforms of a notification are delivered concurrently, and a notification that has to wait frees its slot. Otherwise
    /// batches run one after the other in a reproducible order, as a rehearsal needs.
    package var isConcurrent: Bool
    /// Number of tags up to which a send without recipients looks for similar tags. Comparing one takes a microsecond, and in hubs where
    /// most users have no device most sends find no recipient.
    package var comparableTags: Int
    /// Number of devices in a batch for a push service.
    package var devicesPerBatch: Int
    /// Maximum number of batches of a notification in flight to one push service, with concurrent delivery.
    package var batchesInFlight: Int
    /// Number of devices whose results are stored in one step. After a crash, at most these and the batches in flight get the notification
    /// twice: less than 5,000 with one push service.
    package var devicesPerStep: Int
    /// Time from a device's first attempt to its last while its push service fails. Azure's is 30 minutes.
    package var retryWindow: Duration
    /// Maximum share by which a retry pause is lengthened at random, so that retries do not coincide.
    package var retryJitter: Double
    /// How long pruned devices can be restored.
    package var prunedRetention: Duration
    /// Whether pruned devices are reported to a receiver. They are then stored until it has acknowledged them.
    package var notifiesPruned: Bool
    /// The share of a notification's audience that its results may remove, 0 to 1; further removals are held. See ``RemovalBrake``.
    package var maxRemovedShare: Double
    /// How long a plan is stored.
    package var planRetention: Duration
    /// Maximum number of stored plans. One with a million devices takes about 20 MB.
    package var maximumPlans: Int

    package init(
        name: String = "hub", registrationTTL: Duration? = nil, naming: Naming = .short, refusesLargePayloads: Bool = true,
        concurrentNotifications: Int = 64, concurrentDevices: Int = .max, isConcurrent: Bool = false, comparableTags: Int = .max,
        devicesPerBatch: Int = 500, batchesInFlight: Int = 4, devicesPerStep: Int = 2_500, retryWindow: Duration = .seconds(1800),
        retryJitter: Double = 0,
        prunedRetention: Duration = .seconds(86_400), notifiesPruned: Bool = false, maxRemovedShare: Double = 1,
        planRetention: Duration = .seconds(7 * 86_400),
        maximumPlans: Int = 50
    ) {
        self.name = name
        self.registrationTTL = registrationTTL
        self.naming = naming
        self.refusesLargePayloads = refusesLargePayloads
        self.concurrentNotifications = concurrentNotifications
        self.concurrentDevices = concurrentDevices
        self.isConcurrent = isConcurrent
        self.comparableTags = comparableTags
        self.devicesPerBatch = devicesPerBatch
        self.batchesInFlight = batchesInFlight
        self.devicesPerStep = devicesPerStep
        self.retryWindow = retryWindow
        self.retryJitter = retryJitter
        self.prunedRetention = prunedRetention
        self.notifiesPruned = notifiesPruned
        self.maxRemovedShare = maxRemovedShare
        self.planRetention = planRetention
        self.maximumPlans = maximumPlans
    }

    var retries: RetryPolicy { RetryPolicy(window: retryWindow, jitter: retryJitter) }
}

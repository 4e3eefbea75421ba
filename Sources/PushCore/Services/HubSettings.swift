/// What a hub is told when it is made.
package struct HubSettings: Sendable, Equatable {
    /// How notifications are named.
    package enum Naming: Sendable, Equatable {
        /// `n-0001` …: for one run.
        case short
        /// 32 random hexadecimal digits, the moment, the number in the hub, 1: as in Azure, unique among all hubs.
        case unique
    }

    /// The hub's name among others, for what is counted.
    package var name: String
    /// How long a registration lives after its last update; nil is Azure's default, for ever.
    package var registrationTTL: Duration?
    package var naming: Naming
    /// Whether a native payload beyond the limit of its push service is refused when it is sent. Otherwise the notification is
    /// accepted, and its devices have the outcome `InvalidNotificationSize`, as in Azure.
    package var refusesLargePayloads: Bool
    /// Most notifications that are delivered at a time on one platform, of those that nobody waits for.
    package var concurrentNotifications: Int
    /// Most devices of the notifications to many that are under way, all together; one that has more alone is under way alone.
    package var concurrentDevices: Int
    /// Whether the platforms of a notification are delivered side by side, and one that has to wait leaves its place to others.
    /// Else one batch follows the other, in an order that can be repeated: for a rehearsal.
    package var isSideBySide: Bool
    /// A send that finds nobody looks for the nearest tags in a hub that has at most so many: to compare one takes a microsecond, and
    /// where most users have no device, most sends find nobody.
    package var comparableTags: Int
    /// Devices of a batch for a push service.
    package var devicesPerBatch: Int
    /// Batches of a notification that are under way to a push service at a time, where services are side by side.
    package var batchesUnderWay: Int
    /// Devices whose outcomes are kept in one step. With those of the batches under way it is what is sent again, at most, to devices
    /// that had it already when the process dies: less than 5,000 where there is one push service.
    package var devicesPerStep: Int
    /// From a device's first attempt to its last, where its push service has trouble. Azure's 30 minutes.
    package var retryWindow: Duration
    /// By how much of itself a pause before another attempt is longer at most, so that not all come back at the same moment.
    package var retryJitter: Double
    /// How long devices whose handles died are kept aside, to be brought back.
    package var keepPruned: Duration
    /// Whether somebody is told of them, so that they are kept until then.
    package var isPruningTold: Bool
    /// The share of a notification's audience that its verdicts may remove, 0 to 1; later removals are held. See ``RemovalBrake``.
    package var maxRemovedShare: Double
    /// How long a plan is kept after it was made.
    package var keepPlans: Duration
    /// Most plans that are kept: of a million devices one has some 20 MB.
    package var mostPlans: Int

    package init(
        name: String = "hub", registrationTTL: Duration? = nil, naming: Naming = .short, refusesLargePayloads: Bool = true,
        concurrentNotifications: Int = 64, concurrentDevices: Int = .max, isSideBySide: Bool = false, comparableTags: Int = .max,
        devicesPerBatch: Int = 500, batchesUnderWay: Int = 4, devicesPerStep: Int = 2_500, retryWindow: Duration = .seconds(1800),
        retryJitter: Double = 0,
        keepPruned: Duration = .seconds(86_400), isPruningTold: Bool = false, maxRemovedShare: Double = 1,
        keepPlans: Duration = .seconds(7 * 86_400),
        mostPlans: Int = 50
    ) {
        self.name = name
        self.registrationTTL = registrationTTL
        self.naming = naming
        self.refusesLargePayloads = refusesLargePayloads
        self.concurrentNotifications = concurrentNotifications
        self.concurrentDevices = concurrentDevices
        self.isSideBySide = isSideBySide
        self.comparableTags = comparableTags
        self.devicesPerBatch = devicesPerBatch
        self.batchesUnderWay = batchesUnderWay
        self.devicesPerStep = devicesPerStep
        self.retryWindow = retryWindow
        self.retryJitter = retryJitter
        self.keepPruned = keepPruned
        self.isPruningTold = isPruningTold
        self.maxRemovedShare = maxRemovedShare
        self.keepPlans = keepPlans
        self.mostPlans = mostPlans
    }

    var retries: RetryPolicy { RetryPolicy(window: retryWindow, jitter: retryJitter) }
}

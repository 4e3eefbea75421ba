/// An accepted push on its way to a phone, in terms common to all services.
struct AcceptedPush: Sendable {
    /// The storage of a push by the service while the phone is offline.
    struct StoragePolicy: Sendable {
        /// Pushes with the same slot share its capacity.
        var slot: String
        var capacity: Int
        /// Whether a full slot is cleared entirely, not only of its oldest push (FCM's limit of 100 messages).
        var clearsWhenFull = false
        /// Slots of the same family share a limit; `nil` for none.
        var family: String?
        /// Maximum number of slots of the family in use.
        var slots = 1
        /// Milliseconds since 1970.
        var until: Int64
    }

    /// Delivery to a connected phone in low power mode.
    enum LowPower: Sendable {
        case comes
        /// Delayed until full power; dropped if `nil`.
        case waits(StoragePolicy?)
    }

    /// A change of badge or tile on the start screen.
    enum Surface: Sendable, Equatable {
        case badge(String)
        case tile([String], tag: String?)
    }

    var id: String
    var data: [UInt8]
    /// `nil` for a single attempt without storage.
    var storagePolicy: StoragePolicy?
    var lowPower = LowPower.comes
    /// Whether the deferral has been reported.
    var isDeferred = false
    /// The sender's key for replacing stored pushes.
    var topic: String?
    /// Shown by the system.
    var banner: Banner?
    /// Shown by the app's code, unless the phone handles its pushes itself.
    var appBanner: Banner?
    var surface: Surface?
    var badgeCount: Int?
    /// A change of the app's live activity.
    var activity: LiveActivityChange?
    /// Starts the app's code.
    var wakesApp = false
    /// Whether the app must be allowed to run; dropped if the user has closed it.
    var needsApp = false
    /// Starts a background task even after the app was closed.
    var outlivesApp = false
    /// Whether the system wakes the app for such pushes only a few times per hour.
    var hasWakingBudget = false
    /// Meant for the app's code only.
    var isBackground = false
    /// Why the phone cannot process it.
    var fault: String?

    /// Approximate size, in bytes.
    var storedBytes: Int { Self.fixedBytes + data.count + (banner?.text.utf8.count ?? 0) + (appBanner?.text.utf8.count ?? 0) }
    private static let fixedBytes = 600
}

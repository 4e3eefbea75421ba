/// A push that a service accepted, in the terms of the phone that it is for.
struct Parcel: Sendable {
    /// How the service keeps a push while the phone is offline.
    struct Keeping: Sendable {
        /// Pushes of one slot compete for its places.
        var slot: String
        var capacity: Int
        /// Throws away all of a full slot, not just its oldest (FCM's limit of 100 messages).
        var clearsWhenFull = false
        /// Slots with the same prefix compete too; nil when they do not.
        var family: String?
        /// How many slots of the family may be in use.
        var slots = 1
        /// Milliseconds since 1970.
        var until: Int64
    }

    /// What becomes of it on a phone that is connected and saves power.
    enum LowPower: Sendable {
        case comes
        /// Until the phone has full power; nil: it is lost.
        case waits(Keeping?)
    }

    /// What changes on the start screen.
    enum Surface: Sendable, Equatable {
        case badge(String)
        case tile([String], tag: String?)
    }

    var id: String
    var data: [UInt8]
    /// Nil: one attempt, nothing is kept.
    var keeping: Keeping?
    var lowPower = LowPower.comes
    /// It has been said that it waits for power.
    var isDeferred = false
    /// The sender's own name for what it replaces among those that wait.
    var topic: String?
    /// Shown by the system.
    var banner: Banner?
    /// Shown by the app's code, unless the phone handles its pushes itself.
    var appBanner: Banner?
    var surface: Surface?
    var badgeCount: Int?
    /// What it says of the app's live activity.
    var activity: LiveActivityChange?
    /// Starts the app's code.
    var wakesApp = false
    /// Needs the app to be allowed to run: lost after the user stopped it.
    var needsApp = false
    /// Starts a task of the app's code that outlives the app's closing.
    var outlivesApp = false
    /// The system wakes the app for such pushes a few times an hour only.
    var hasWakingBudget = false
    /// Meant for the app's code only.
    var isBackground = false
    /// Why the phone can do nothing with it.
    var fault: String?

    /// About as many bytes as it takes.
    var storedBytes: Int { Self.fixedBytes + data.count + (banner?.text.utf8.count ?? 0) + (appBanner?.text.utf8.count ?? 0) }
    private static let fixedBytes = 600
}

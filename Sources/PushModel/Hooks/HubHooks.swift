import Synchronization

/// The hooks that a hub and the app backend call. Plugins implement them.
///
/// Deciding hooks (`beforeSend`, `beforeDeliver`, `onRegister`, `onLogin`, `onSecureFetch`) are awaited; an error that they throw is
/// returned to the client. Notifying hooks (`afterSend`, `onOutcome`) delay nothing except a rehearsal.
package protocol HubHooks: Sendable {
    /// Whether a hook is installed for this phase. Checked before each call, without waiting, so that nothing is prepared for a hook that
    /// does not exist.
    func isWanted(_ phase: HookPhase) -> Bool

    /// Called before a notification is accepted. The returned draft is accepted instead.
    func beforeSend(_ draft: SendDraft) async throws(PushError) -> SendDraft

    /// Called after a notification has been accepted.
    func afterSend(_ sent: SentNotification) async

    /// Called for the devices of one platform before delivery. If it throws, no device of the group receives the notification, and the
    /// error explains their outcomes.
    func beforeDeliver(_ group: any HookedGroup) async throws(PushError)

    /// Called after a notification has ended and its result has been stored.
    func onOutcome(_ ended: EndedNotification) async

    /// Called before a registration or an installation is created or changed. The returned draft is stored instead.
    func onRegister(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft

    /// Called after a user has been authenticated, before the session is created.
    func onLogin(_ login: LoginDraft) async throws(PushError)

    /// Called before a user reads a secure payload. The hook does not see its content.
    func onSecureFetch(_ fetch: SecureFetch) async throws(PushError)
}

/// A phase of the work in which plugins are called.
package enum HookPhase: String, Sendable, CaseIterable {
    case beforeSend = "before_send"
    case afterSend = "after_send"
    case beforeDeliver = "before_deliver"
    case onOutcome = "on_outcome"
    case onRegister = "on_register"
    case onLogin = "on_login"
    case onSecureFetch = "on_secure_fetch"
}

/// Hooks that do nothing.
package struct NoHooks: HubHooks {
    package init() {}

    package func isWanted(_ phase: HookPhase) -> Bool { false }
    package func beforeSend(_ draft: SendDraft) -> SendDraft { draft }
    package func afterSend(_ sent: SentNotification) {}
    package func beforeDeliver(_ group: any HookedGroup) {}
    package func onOutcome(_ ended: EndedNotification) {}
    package func onRegister(_ draft: RegistrationDraft) -> RegistrationDraft { draft }
    package func onLogin(_ login: LoginDraft) {}
    package func onSecureFetch(_ fetch: SecureFetch) {}
}

// MARK: - Values passed to hooks

/// The plugins on whose behalf the current task runs. Their own hooks are skipped, so that no plugin triggers itself endlessly.
package enum HookOrigin {
    @TaskLocal package static var plugins: [String] = []
}

/// A notification to be sent.
package struct SendDraft: Sendable, Equatable {
    package var hub: String
    package var request: NotificationRequest
    /// When the notification is due; nil: immediately.
    package var moment: Timestamp?
    /// The plugins on whose behalf it is sent, the most recent first; empty if a client sends it.
    package var origin: [String]

    package init(hub: String, request: NotificationRequest, moment: Timestamp? = nil, origin: [String] = []) {
        self.hub = hub
        self.request = request
        self.moment = moment
        self.origin = origin
    }
}

extension SendDraft {
    /// Checks a draft that a hook has changed. Throws what the hub would reject; the hub checks again what it accepts. Content that the
    /// hook changed and that is too large is rejected before it reaches a push service.
    package func verified(since given: SendDraft, now: Timestamp) throws(PushError) -> SendDraft {
        var draft = self
        draft.request = try request.checked(refusingLarge: request.content != given.request.content)
        if let moment { try Self.check(moment, now: now) }
        return draft
    }
}

package struct SentNotification: Sendable, Equatable {
    package var id: String
    package var draft: SendDraft

    package init(id: String, draft: SendDraft) {
        self.id = id
        self.draft = draft
    }
}

package struct EndedNotification: Sendable, Equatable {
    package var hub: String
    /// The result without the devices.
    package var outcome: NotificationOutcome
    package var origin: [String]

    package init(hub: String, outcome: NotificationOutcome, origin: [String] = []) {
        self.hub = hub
        self.outcome = outcome
        self.origin = origin
    }
}

/// Devices of one platform that are about to receive a notification. Details of single devices are loaded only on request.
package protocol HookedGroup: Sendable {
    var hub: String { get }
    var notificationID: String { get }
    var request: NotificationRequest { get }
    var platform: Platform { get }
    /// Whether the group consists of handles without registrations, which have no tags.
    var isDirect: Bool { get }
    /// The plugins on whose behalf the notification is sent.
    var origin: [String] { get }
    /// Number of devices without a ruling.
    var count: Int { get }

    /// For each tag, the number of devices in the group that have it.
    func counts(of tags: [Tag]) async -> [Int]

    /// At most 1,000 devices of the group, in the order of the hub. For the next page, pass the last number.
    func devices(after number: UInt32?, limit: Int) async -> [HookedDevice]

    /// Applies rulings in order; for each device the first ruling counts. Returns the number of devices that each applied to.
    func rule(_ rulings: [DeliveryRuling]) async -> [Int]
}

package struct HookedDevice: Sendable, Equatable {
    /// Identifies the device within the group.
    package var number: UInt32
    package var registrationID: RegistrationID?
    package var installationID: String?
    package var tags: [Tag]
    package var templateName: String?

    package init(
        number: UInt32, registrationID: RegistrationID? = nil, installationID: String? = nil, tags: [Tag] = [], templateName: String? = nil
    ) {
        self.number = number
        self.registrationID = registrationID
        self.installationID = installationID
        self.tags = tags
        self.templateName = templateName
    }
}

/// What happens to some devices of a group instead of receiving the notification now.
package struct DeliveryRuling: Sendable, Equatable {
    package enum Devices: Sendable, Equatable {
        case all
        case tagged(Tag)
        /// Devices with these numbers.
        case chosen([UInt32])
    }

    package enum Fate: Sendable, Equatable {
        /// The devices do not receive it.
        case skip
        /// The devices receive it at that time, at most seven days ahead, unless a hook called then rules otherwise.
        case hold(until: Timestamp)
        /// Exempts the devices from the rulings after this one in the list. Other hooks may still rule about them.
        case pass
    }

    package var devices: Devices
    package var fate: Fate
    /// Text for people: the explanation of the outcome, with the plugin's name. Cut to 300 characters, because it is stored for each
    /// device.
    package let reason: String

    package init(devices: Devices, fate: Fate, reason: String) {
        self.devices = devices
        self.fate = fate
        self.reason = reason.hookReason
    }
}

extension String {
    /// The text cut to 300 characters, the maximum that is stored or sent for a hook's reason.
    package var hookReason: String { prefix(300).utf8.count == utf8.count ? self : "\(prefix(299))…" }
}

/// A registration or an installation to be stored.
package struct RegistrationDraft: Sendable {
    package enum Kind: String, Sendable { case registration, installation }

    package var hub: String
    package var kind: Kind
    package var id: String
    package var platform: Platform
    /// The user id of an installation.
    package var userID: String?
    package var tags: [Tag]
    /// Names of templates; a registration's template has no name.
    package var templates: [String]
    /// Whether the id is new.
    package var isNew: Bool
    package var origin: [String]
    /// Called concurrently once the registration has been stored.
    package var onceKept: [@Sendable () async -> Void] = []

    package init(
        hub: String, kind: Kind, id: String, platform: Platform, userID: String? = nil, tags: [Tag], templates: [String] = [], isNew: Bool,
        origin: [String] = []
    ) {
        self.hub = hub
        self.kind = kind
        self.id = id
        self.platform = platform
        self.userID = userID
        self.tags = tags
        self.templates = templates
        self.isNew = isNew
        self.origin = origin
    }
}

extension RegistrationDraft {
    /// Checks a draft that a hook has changed. Throws what the hub would reject.
    package func verified() throws(PushError) -> RegistrationDraft {
        var draft = self
        draft.tags = try tags.checked()
        // The tags that the hub itself adds to an installation; they count towards the limit.
        let own = kind == .installation ? [try? Tag.installation(id), try? userID.map(Tag.addressing)] : []
        _ = try draft.tags.adding(ofHub: own.compactMap { $0 })
        return draft
    }
}

package struct LoginDraft: Sendable, Equatable {
    package var username: String
    /// The client's address, if known.
    package var address: String?
    /// Whether the user was accepted without a password, as tutorial mode allows.
    package var isUnproved: Bool

    package init(username: String, address: String? = nil, isUnproved: Bool = false) {
        self.username = username
        self.address = address
        self.isUnproved = isUnproved
    }
}

package struct SecureFetch: Sendable, Equatable {
    /// The id of the payload.
    package var id: String
    package var username: String

    package init(id: String, username: String) {
        self.id = id
        self.username = username
    }
}

/// Forwards to hooks that are connected after the hub has been created, because they need the hub. Holds them weakly.
package final class LateBoundHooks: HubHooks {
    private struct Plug: Sendable { weak var hooks: (any HubHooks & AnyObject)? }

    private let plug = Mutex(Plug())

    package init() {}

    /// Sets the hooks to call from now on.
    package func connect(_ hooks: any HubHooks & AnyObject) { plug.withLock { $0.hooks = hooks } }

    private var current: any HubHooks { plug.withLock { $0.hooks } ?? NoHooks() }

    package func isWanted(_ phase: HookPhase) -> Bool { current.isWanted(phase) }
    package func beforeSend(_ draft: SendDraft) async throws(PushError) -> SendDraft { try await current.beforeSend(draft) }
    package func afterSend(_ sent: SentNotification) async { await current.afterSend(sent) }
    package func beforeDeliver(_ group: any HookedGroup) async throws(PushError) { try await current.beforeDeliver(group) }
    package func onOutcome(_ ended: EndedNotification) async { await current.onOutcome(ended) }
    package func onRegister(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft { try await current.onRegister(draft) }
    package func onLogin(_ login: LoginDraft) async throws(PushError) { try await current.onLogin(login) }
    package func onSecureFetch(_ fetch: SecureFetch) async throws(PushError) { try await current.onSecureFetch(fetch) }
}

extension SendDraft {
    package static func check(_ moment: Timestamp, now: Timestamp) throws(PushError) {
        guard moment > now + .seconds(7 * 86_400) else { return }
        throw PushError(
            "time.too_far", "\(moment) is more than seven days ahead", hint: "schedule within seven days", status: 400)
    }
}

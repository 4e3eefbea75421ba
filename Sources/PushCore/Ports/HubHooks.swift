import Synchronization

/// What is asked, or told, at certain moments of the work of a hub and of the app backend. Plugins stand behind it.
///
/// Those that decide (`beforeSend`, `beforeDeliver`, `onRegister`, `onLogin`, `onSecureFetch`) are awaited; what they throw is the
/// answer of whoever asked for the work. Those that are told (`afterSend`, `onOutcome`) hold nothing up but a rehearsal.
package protocol HubHooks: Sendable {
    /// Whether anybody wants to be called there. Asked before each call, and answered without waiting: work that nobody looks at is not
    /// prepared for anybody.
    func isWanted(_ phase: HookPhase) -> Bool

    /// A notification that has not been accepted yet. What comes back is accepted instead.
    func beforeSend(_ draft: SendDraft) async throws(PushError) -> SendDraft

    /// A notification was accepted.
    func afterSend(_ sent: SentNotification) async

    /// The devices of one platform, before they get a notification. Throws where nobody of the group may get it: then that is the
    /// explanation of their outcome.
    func beforeDeliver(_ group: any HookedGroup) async throws(PushError)

    /// A notification has ended, and its end is kept.
    func onOutcome(_ ended: EndedNotification) async

    /// A registration or an installation that is to be created or changed. What comes back is kept instead.
    func onRegister(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft

    /// Somebody has proved who they are and is about to get a session.
    func onLogin(_ login: LoginDraft) async throws(PushError)

    /// A user is about to read a secure payload. What it holds is not shown.
    func onSecureFetch(_ fetch: SecureFetch) async throws(PushError)
}

/// A moment at which plugins are called.
package enum HookPhase: String, Sendable, CaseIterable {
    case beforeSend = "before_send"
    case afterSend = "after_send"
    case beforeDeliver = "before_deliver"
    case onOutcome = "on_outcome"
    case onRegister = "on_register"
    case onLogin = "on_login"
    case onSecureFetch = "on_secure_fetch"
}

/// Where nobody is called.
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

// MARK: - What hooks see

/// Plugins on whose behalf something is done: their own hooks are not called for it, so that none calls itself for ever.
package enum HookOrigin {
    @TaskLocal package static var plugins: [String] = []
}

/// A notification that somebody wants to send.
package struct SendDraft: Sendable, Equatable {
    package var hub: String
    package var request: NotificationRequest
    /// When it is to go out; nil: at once.
    package var moment: Timestamp?
    /// The plugins on whose behalf it is sent, the last one first asked for it; none where a client sends.
    package var origin: [String]

    package init(hub: String, request: NotificationRequest, moment: Timestamp? = nil, origin: [String] = []) {
        self.hub = hub
        self.request = request
        self.moment = moment
        self.origin = origin
    }
}

extension SendDraft {
    /// As a hook has changed it, where the hub could take it. Throws what the hub would refuse; it checks what it accepts itself, too.
    /// A content of its own that is too large is the hook's, and no push service gets to see it.
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
    /// Without its devices.
    package var outcome: NotificationOutcome
    package var origin: [String]

    package init(hub: String, outcome: NotificationOutcome, origin: [String] = []) {
        self.hub = hub
        self.outcome = outcome
        self.origin = origin
    }
}

/// The devices of one platform that are about to get a notification. Nothing is known of them one by one unless it is asked for.
package protocol HookedGroup: Sendable {
    var hub: String { get }
    var notificationID: String { get }
    var request: NotificationRequest { get }
    var platform: Platform { get }
    /// Whether these are handles without registrations: they have no tags.
    var isDirect: Bool { get }
    /// Of the notification.
    var origin: [String] { get }
    /// Devices about which nothing was ruled.
    var count: Int { get }

    /// How many of these devices have each of the tags.
    func counts(of tags: [Tag]) async -> [Int]

    /// Some of these devices, at most 1,000, in the order of the hub; the next ones are those behind the last number.
    func devices(after number: UInt32?, limit: Int) async -> [HookedDevice]

    /// Rules about some of these devices, in order: of each device the first ruling holds. Answers how many devices each was for.
    func rule(_ rulings: [DeliveryRuling]) async -> [Int]
}

package struct HookedDevice: Sendable, Equatable {
    /// Within the group.
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

/// What is to become of some devices of a group instead of getting the notification now.
package struct DeliveryRuling: Sendable, Equatable {
    package enum Devices: Sendable, Equatable {
        case all
        case tagged(Tag)
        /// By their numbers.
        case chosen([UInt32])
    }

    package enum Fate: Sendable, Equatable {
        /// They do not get it.
        case skip
        /// They get it then, unless a hook that is asked once more rules otherwise. At most seven days ahead.
        case hold(until: Timestamp)
        /// Rulings behind this one in the list are not for them, and that is all: other hooks may still rule about them.
        case pass
    }

    package var devices: Devices
    package var fate: Fate
    /// For people: the explanation of the outcome, with the plugin's name; of a longer one the first 300 characters, as it is kept for
    /// each device.
    package let reason: String

    package init(devices: Devices, fate: Fate, reason: String) {
        self.devices = devices
        self.fate = fate
        self.reason = reason.hookReason
    }
}

extension String {
    /// Of what a hook says to people, the most that is kept or sent.
    package var hookReason: String { prefix(300).utf8.count == utf8.count ? self : "\(prefix(299))…" }
}

/// A registration, or an installation, that is about to be kept.
package struct RegistrationDraft: Sendable {
    package enum Kind: String, Sendable { case registration, installation }

    package var hub: String
    package var kind: Kind
    package var id: String
    package var platform: Platform
    /// The user of an installation.
    package var userID: String?
    package var tags: [Tag]
    /// By name; that of a registration has none.
    package var templates: [String]
    /// Nothing of that id was there before.
    package var isNew: Bool
    package var origin: [String]
    /// To be called once it is kept, beside whatever the hub does next.
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
    /// As a hook has changed it, where the hub could take it. Throws what the hub would refuse.
    package func verified() throws(PushError) -> RegistrationDraft {
        var draft = self
        draft.tags = try tags.checked()
        // The hub adds these of an installation itself.
        let own = kind == .installation ? [try? Tag.installation(id), try? userID.map(Tag.addressing)] : []
        _ = try draft.tags.adding(ofHub: own.compactMap { $0 })
        return draft
    }
}

package struct LoginDraft: Sendable, Equatable {
    package var username: String
    /// Where the request comes from, as far as that is known.
    package var address: String?
    /// Whether tutorial mode asked for no password.
    package var isUnproved: Bool

    package init(username: String, address: String? = nil, isUnproved: Bool = false) {
        self.username = username
        self.address = address
        self.isUnproved = isUnproved
    }
}

package struct SecureFetch: Sendable, Equatable {
    /// Of the payload.
    package var id: String
    package var username: String

    package init(id: String, username: String) {
        self.id = id
        self.username = username
    }
}

/// Where hooks are put that cannot be there yet when the hub is made, because they need it. It does not keep them.
package final class HookSocket: HubHooks {
    private struct Plug: Sendable { weak var hooks: (any HubHooks & AnyObject)? }

    private let plug = Mutex(Plug())

    package init() {}

    /// From now on these are called.
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

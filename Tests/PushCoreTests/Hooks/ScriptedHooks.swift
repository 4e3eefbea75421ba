import PushCore
import Support
import Synchronization

/// Hooks that do what a test has told them, and write down what they hear.
final class ScriptedHooks: HubHooks {
    typealias Sending = @Sendable (SendDraft) async throws(PushError) -> SendDraft
    typealias Delivering = @Sendable (any HookedGroup) async throws(PushError) -> Void
    typealias Registering = @Sendable (RegistrationDraft) async throws(PushError) -> RegistrationDraft
    typealias LoggingIn = @Sendable (LoginDraft) async throws(PushError) -> Void
    typealias Fetching = @Sendable (SecureFetch) async throws(PushError) -> Void

    /// A group as it was when the hook was asked.
    struct Group: Equatable {
        var id: String
        var platform: Platform
        var count: Int
        var origin: [String] = []
    }

    private struct State {
        var sending: Sending?
        var delivering: Delivering?
        var registering: Registering?
        var loggingIn: LoggingIn?
        var fetching: Fetching?
        var hearing: (@Sendable () async -> Void)?
        var isListening = false
        var drafts: [SendDraft] = []
        var groups: [Group] = []
        var sent: [SentNotification] = []
        var ended: [EndedNotification] = []
        var registrations: [RegistrationDraft] = []
        var logins: [LoginDraft] = []
        var fetches: [SecureFetch] = []
        var origins: [[String]] = []
    }

    private let state = Mutex(State())

    // MARK: - Script

    func beforeSending(_ work: Sending?) { state.withLock { $0.sending = work } }
    func beforeDelivering(_ work: Delivering?) { state.withLock { $0.delivering = work } }
    func onRegistering(_ work: Registering?) { state.withLock { $0.registering = work } }
    func onLoggingIn(_ work: LoggingIn?) { state.withLock { $0.loggingIn = work } }
    func onFetching(_ work: Fetching?) { state.withLock { $0.fetching = work } }

    /// Hears of what was accepted and what has ended from now on, and does some work each time.
    func listen(_ work: (@Sendable () async -> Void)? = nil) {
        state.withLock { state in
            state.isListening = true
            state.hearing = work
        }
    }

    /// The devices with a tag are held until a moment; nothing else is ruled.
    func hold(_ tag: String, until moment: Timestamp, because reason: String = "quiet: at night") throws {
        let tag = try Tag(tag)
        beforeDelivering { group in
            _ = await group.rule([DeliveryRuling(devices: .tagged(tag), fate: .hold(until: moment), reason: reason)])
        }
    }

    // MARK: - What was asked and told

    var drafts: [SendDraft] { state.withLock { $0.drafts } }
    var groups: [Group] { state.withLock { $0.groups } }
    var sent: [SentNotification] { state.withLock { $0.sent } }
    var ended: [EndedNotification] { state.withLock { $0.ended } }
    var registrations: [RegistrationDraft] { state.withLock { $0.registrations } }
    var logins: [LoginDraft] { state.withLock { $0.logins } }
    var fetches: [SecureFetch] { state.withLock { $0.fetches } }
    /// On whose behalf the hooks were told something.
    var origins: [[String]] { state.withLock { $0.origins } }

    // MARK: - The port

    func isWanted(_ phase: HookPhase) -> Bool {
        state.withLock { state in
            switch phase {
            case .beforeSend: state.sending != nil
            case .beforeDeliver: state.delivering != nil
            case .onRegister: state.registering != nil
            case .onLogin: state.loggingIn != nil
            case .onSecureFetch: state.fetching != nil
            case .afterSend, .onOutcome: state.isListening
            }
        }
    }

    func beforeSend(_ draft: SendDraft) async throws(PushError) -> SendDraft {
        let work = state.withLock { state in
            state.drafts.append(draft)
            return state.sending
        }
        return try await work?(draft) ?? draft
    }

    func afterSend(_ sent: SentNotification) async { await hear { $0.sent.append(sent) } }

    func beforeDeliver(_ group: any HookedGroup) async throws(PushError) {
        let heard = Group(id: group.notificationID, platform: group.platform, count: group.count, origin: group.origin)
        let work = state.withLock { state in
            state.groups.append(heard)
            return state.delivering
        }
        try await work?(group)
    }

    func onOutcome(_ ended: EndedNotification) async { await hear { $0.ended.append(ended) } }

    func onRegister(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft {
        let work = state.withLock { state in
            state.registrations.append(draft)
            return state.registering
        }
        return try await work?(draft) ?? draft
    }

    func onLogin(_ login: LoginDraft) async throws(PushError) {
        let work = state.withLock { state in
            state.logins.append(login)
            return state.loggingIn
        }
        try await work?(login)
    }

    func onSecureFetch(_ fetch: SecureFetch) async throws(PushError) {
        let work = state.withLock { state in
            state.fetches.append(fetch)
            return state.fetching
        }
        try await work?(fetch)
    }

    private func hear(_ note: (inout State) -> Void) async {
        let origin = HookOrigin.plugins
        let work = state.withLock { state in
            note(&state)
            state.origins.append(origin)
            return state.hearing
        }
        await work?()
    }
}

extension PushError {
    /// A plugin does not want it.
    static let veto = PushError("plugin.refused", "quiet: not on Sundays", hint: "try again on Monday", status: 403)
}

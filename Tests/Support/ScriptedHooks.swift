package import PushModel
import Synchronization

/// Hooks that run the code of a test and record their calls.
package final class ScriptedHooks: HubHooks {
    package typealias Sending = @Sendable (SendDraft) async throws(PushError) -> SendDraft
    package typealias Delivering = @Sendable (any HookedGroup) async throws(PushError) -> Void
    package typealias Registering = @Sendable (RegistrationDraft) async throws(PushError) -> RegistrationDraft
    package typealias LoggingIn = @Sendable (LoginDraft) async throws(PushError) -> Void
    package typealias Fetching = @Sendable (SecureFetch) async throws(PushError) -> Void

    /// A group as it was when the hook was called.
    package struct Group: Equatable {
        package var id: String
        package var platform: Platform
        package var count: Int
        package var origin: [String] = []

        package init(id: String, platform: Platform, count: Int, origin: [String] = []) {
            (self.id, self.platform, self.count, self.origin) = (id, platform, count, origin)
        }
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

    package init() {}

    // MARK: - Script

    package func beforeSending(_ work: Sending?) { state.withLock { $0.sending = work } }
    package func beforeDelivering(_ work: Delivering?) { state.withLock { $0.delivering = work } }
    package func onRegistering(_ work: Registering?) { state.withLock { $0.registering = work } }
    package func onLoggingIn(_ work: LoggingIn?) { state.withLock { $0.loggingIn = work } }
    package func onFetching(_ work: Fetching?) { state.withLock { $0.fetching = work } }

    /// Receives accepted and ended notifications from now on, and runs `work` each time.
    package func listen(_ work: (@Sendable () async -> Void)? = nil) {
        state.withLock { state in
            state.isListening = true
            state.hearing = work
        }
    }

    /// Defers devices with a tag until a time, and decides nothing else.
    package func hold(_ tag: String, until time: Timestamp, by plugin: String = "quiet", because reason: String = "at night") throws {
        let tag = try Tag(tag)
        beforeDelivering { group in
            _ = await group.rule([DeliveryRuling(devices: .tagged(tag), decision: .hold(until: time), plugin: plugin, reason: reason)])
        }
    }

    // MARK: - Recorded calls

    package var drafts: [SendDraft] { state.withLock { $0.drafts } }
    package var groups: [Group] { state.withLock { $0.groups } }
    package var sent: [SentNotification] { state.withLock { $0.sent } }
    package var ended: [EndedNotification] { state.withLock { $0.ended } }
    package var registrations: [RegistrationDraft] { state.withLock { $0.registrations } }
    package var logins: [LoginDraft] { state.withLock { $0.logins } }
    package var fetches: [SecureFetch] { state.withLock { $0.fetches } }
    /// The origin of each call.
    package var origins: [[String]] { state.withLock { $0.origins } }

    // MARK: - HubHooks

    package func hasHook(_ phase: HookPhase) -> Bool {
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

    package func beforeSend(_ draft: SendDraft) async throws(PushError) -> SendDraft {
        let work = state.withLock { state in
            state.drafts.append(draft)
            return state.sending
        }
        return try await work?(draft) ?? draft
    }

    package func afterSend(_ sent: SentNotification) async { await hear { $0.sent.append(sent) } }

    package func beforeDeliver(_ group: any HookedGroup) async throws(PushError) {
        let heard = Group(id: group.notificationID, platform: group.platform, count: group.count, origin: group.origin)
        let work = state.withLock { state in
            state.groups.append(heard)
            return state.delivering
        }
        try await work?(group)
    }

    package func onOutcome(_ ended: EndedNotification) async { await hear { $0.ended.append(ended) } }

    package func onRegister(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft {
        let work = state.withLock { state in
            state.registrations.append(draft)
            return state.registering
        }
        return try await work?(draft) ?? draft
    }

    package func onLogin(_ login: LoginDraft) async throws(PushError) {
        let work = state.withLock { state in
            state.logins.append(login)
            return state.loggingIn
        }
        try await work?(login)
    }

    package func onSecureFetch(_ fetch: SecureFetch) async throws(PushError) {
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
    /// The error of a plugin that rejects a call.
    package static let veto = PushError("plugin.refused", "quiet: not on Sundays", hint: "try again on Monday", status: 403)
}

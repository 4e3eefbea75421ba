import Synchronization

/// Forwards to hooks that are connected after the hub has been created, because they need the hub. Holds them weakly.
package final class LateBoundHooks: HubHooks {
    private struct Plug: Sendable { weak var hooks: (any HubHooks & AnyObject)? }

    private let plug = Mutex(Plug())

    package init() {}

    /// Sets the hooks to call from now on.
    package func connect(_ hooks: any HubHooks & AnyObject) { plug.withLock { $0.hooks = hooks } }

    private var current: any HubHooks { plug.withLock { $0.hooks } ?? NoHooks() }

    package func hasHook(_ phase: HookPhase) -> Bool { current.hasHook(phase) }
    package func beforeSend(_ draft: SendDraft) async throws(PushError) -> SendDraft { try await current.beforeSend(draft) }
    package func afterSend(_ sent: SentNotification) async { await current.afterSend(sent) }
    package func beforeDeliver(_ group: any HookedGroup) async throws(PushError) { try await current.beforeDeliver(group) }
    package func onOutcome(_ ended: EndedNotification) async { await current.onOutcome(ended) }
    package func onRegister(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft { try await current.onRegister(draft) }
    package func onLogin(_ login: LoginDraft) async throws(PushError) { try await current.onLogin(login) }
    package func onSecureFetch(_ fetch: SecureFetch) async throws(PushError) { try await current.onSecureFetch(fetch) }
}

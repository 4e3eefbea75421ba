/// Hooks that do nothing.
package struct NoHooks: HubHooks {
    package init() {}

    package func hasHook(_ phase: HookPhase) -> Bool { false }
    package func beforeSend(_ draft: SendDraft) -> SendDraft { draft }
    package func afterSend(_ sent: SentNotification) {}
    package func beforeDeliver(_ group: any HookedGroup) {}
    package func onOutcome(_ ended: EndedNotification) {}
    package func onRegister(_ draft: RegistrationDraft) -> RegistrationDraft { draft }
    package func onLogin(_ login: LoginDraft) {}
    package func onSecureFetch(_ fetch: SecureFetch) {}
}

package import PushModel

/// The hooks of a native plugin for notifications.
package protocol NativeSendHooks: Sendable {
    func beforeSend(_ draft: SendDraft) async throws -> SendDraft
    func afterSend(_ sent: SentNotification) async throws
    func beforeDeliver(_ group: any HookedGroup) async throws -> [DeliveryRuling]
    func onOutcome(_ ended: EndedNotification) async throws
}

/// The hook of a native plugin for registrations and installations.
package protocol NativeRegistrationHooks: Sendable {
    func onRegister(_ draft: RegistrationDraft) async throws -> RegistrationDraft
}

/// The hooks of a native plugin for the app backend.
package protocol NativeBackendHooks: Sendable {
    func onLogin(_ login: LoginDraft) async throws
    func onSecureFetch(_ fetch: SecureFetch) async throws
}

/// The hooks of a native plugin. `phases` of its type states which are implemented. Errors count as failures, except `HookVeto`.
package protocol NativeHooks: NativeSendHooks, NativeRegistrationHooks, NativeBackendHooks {}

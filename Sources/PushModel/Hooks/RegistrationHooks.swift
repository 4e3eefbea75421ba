/// The hook that a hub calls for registrations and installations.
package protocol RegistrationHooks: HookPhases {
    /// Called before a registration or an installation is created or changed. The returned draft is stored instead.
    func onRegister(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft
}

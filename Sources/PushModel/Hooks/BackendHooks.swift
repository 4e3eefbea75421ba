/// The hooks that the app backend calls.
package protocol BackendHooks: HookPhases {
    /// Called after a user has been authenticated, before the session is created.
    func onLogin(_ login: LoginDraft) async throws(PushError)

    /// Called before a user reads a secure payload. The hook does not see its content.
    func onSecureFetch(_ fetch: SecureFetch) async throws(PushError)
}

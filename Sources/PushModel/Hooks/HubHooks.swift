/// The hooks that a hub and the app backend call. Plugins implement them.
///
/// Blocking hooks (`beforeSend`, `beforeDeliver`, `onRegister`, `onLogin`, `onSecureFetch`) are awaited; an error that they throw is
/// returned to the client. The other hooks (`afterSend`, `onOutcome`) delay nothing except a rehearsal.
package protocol HubHooks: SendHooks, RegistrationHooks, BackendHooks {}

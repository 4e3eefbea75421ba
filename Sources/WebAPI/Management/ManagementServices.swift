import PushBackend
import PushModel

/// The services that the JSON API manages, besides the hubs.
struct ManagementServices: Sendable {
    /// The users of the app backend.
    let accounts: AccountService
    /// Nil for a server without flows.
    var flows: FlowDispatcher?
    var credentials = CredentialServices.none
}

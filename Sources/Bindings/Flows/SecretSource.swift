package import PushModel

/// The source of `push.secret`.
package protocol SecretSource: Sendable {
    /// Returns the secret with this name, or nil. A nested flow may have secrets of its own.
    func secret(named name: String, for script: FlowScript) throws(PushError) -> Secret?
    /// Existing names, for "did you mean" suggestions.
    var names: [String] { get }
    /// The places that were searched, for the message about a missing secret.
    func searchedLocations(for name: String) -> String
}

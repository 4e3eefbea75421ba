import HubWire
import PushModel
import Synchronization

/// A cache of verified tokens. A client signs one token and uses it for an hour. Its signature is verified once, as long as the key still
/// belongs to the rule.
package final class VerifiedTokenCache: Sendable {
    struct Proof: Sendable {
        var token: SASToken
        /// The resource of the token; nil if it is not an address.
        var resource: SASResource?
        var key: Secret
    }

    private let proofs = Mutex<[String: Proof]>([:])
    private static let maximumCount = 4096
    /// Longer headers are not cached.
    private static let maximumLength = 1024

    package init() {}

    func proof(_ authorization: String) -> Proof? { proofs.withLock { $0[authorization] } }

    func add(_ proof: Proof, _ authorization: String) {
        guard authorization.utf8.count <= Self.maximumLength else { return }
        proofs.withLock { proofs in
            // Tokens that are still in use are added again by their next request.
            if proofs.count >= Self.maximumCount { proofs = [:] }
            proofs[authorization] = proof
        }
    }
}

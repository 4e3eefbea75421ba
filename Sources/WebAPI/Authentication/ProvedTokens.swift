import HubWire
import PushCore
import Synchronization

/// Tokens that were proved before. A client signs one and uses it for an hour: its signature is computed once, as long as the key is
/// still one of its rule's.
package final class ProvedTokens: Sendable {
    struct Proof: Sendable {
        var token: SASToken
        /// What the token's resource says, nil where it is no address.
        var place: SASPlace?
        var key: Secret
    }

    private let proofs = Mutex<[String: Proof]>([:])
    private static let maximumCount = 4096
    /// Longer headers are read anew each time.
    private static let maximumLength = 1024

    package init() {}

    func proof(_ authorization: String) -> Proof? { proofs.withLock { $0[authorization] } }

    func add(_ proof: Proof, _ authorization: String) {
        guard authorization.utf8.count <= Self.maximumLength else { return }
        proofs.withLock { proofs in
            // Those that are still used come back by themselves.
            if proofs.count >= Self.maximumCount { proofs = [:] }
            proofs[authorization] = proof
        }
    }
}

package import PushModel
import Synchronization

/// Sends requests to the lab of a server.
package protocol LabConnection: Sendable {
    /// Sends a request with the lab's key and returns the JSON of the response; null for a response without a body.
    ///
    /// `path` begins with `/lab/` and is encoded. Throws the server's error, with its code and hint, or a connection error.
    func call(_ method: String, _ path: String, _ body: JSON?) async throws(PushError) -> JSON
}

import Delivery
import HTTPTypes

/// A transport that can break its real connections.
protocol BreakableTransport: PushTransport {
    /// Performs an exchange whose connection breaks. Throws the error of the break, or any other error that occurs first.
    func exchange(_ request: HTTPRequest, body: [UInt8], breaking fault: WireFaults.Break) async throws(TransportError) -> PushResponse
}

/// The reason why there is no response. It decides whether sending again may show a notification twice.
package enum TransportError: Error, Sendable, Equatable {
    /// The service did not process the request: not connected, stream refused, or above the last stream of GOAWAY (RFC 9113, sections 6.8
    /// and 8.7). Safe to send again at once.
    case notSent(String)
    /// The request was sent and no response came: it may have been processed.
    case unknown(String)
    /// The address is not allowed, now or later.
    case forbidden(String)
}

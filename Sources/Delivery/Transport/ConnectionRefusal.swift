import NIOCore

/// The reason why a connection failed or cannot be used.
struct ConnectionRefusal: Error, Equatable {
    enum Kind {
        /// Another attempt may succeed.
        case unreachable
        /// The address is not allowed.
        case forbidden
        /// The peer does not speak HTTP/2.
        case withoutHTTP2
    }

    /// The reason, for operators.
    let text: String
    var kind = Kind.unreachable

    /// The failure of the pushes that wait for the connection.
    ///
    /// - Parameter pause: Time until the next attempt.
    func failure(pause: TimeAmount) -> PushFailure {
        switch kind {
        case .unreachable: .unreachable(text, retryAfter: Duration(pause))
        case .forbidden: .forbidden(text)
        case .withoutHTTP2: .withoutHTTP2(text)
        }
    }
}

import NIOCore

/// Why a connection is of no use, or none came about.
struct ConnectionRefusal: Error, Equatable {
    enum Kind {
        /// Another attempt may succeed.
        case unreachable
        /// Nothing may be sent to where it leads.
        case forbidden
        /// The peer does not speak HTTP/2.
        case withoutHTTP2
    }

    /// For people.
    let text: String
    var kind = Kind.unreachable

    /// What it means for a push that waits.
    ///
    /// - Parameter pause: until the next attempt.
    func failure(pause: TimeAmount) -> PushFailure {
        switch kind {
        case .unreachable: .unreachable(text, retryAfter: Duration(pause))
        case .forbidden: .forbidden(text)
        case .withoutHTTP2: .withoutHTTP2(text)
        }
    }
}

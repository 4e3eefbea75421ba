import HTTPTypes
import NIOCore

/// A client's connection to one of the simulators' ports, whichever protocol it speaks; belongs to the event loop of its channel.
protocol ServerConnection: AnyObject {
    /// Nil once it has gone.
    var eventLoop: (any EventLoop)? { get }

    /// HTTP/2, as against HTTP/1.1.
    var isMultiplexed: Bool { get }

    /// Answers a request; one that is not open any more is none.
    ///
    /// - Parameter farewell: Ends the connection after this answer, with these bytes as the debug data of GOAWAY; HTTP/1.1 has
    ///   `Connection: close` for it. Nil lets it go on.
    func respond(to stream: Int32, _ response: HTTPResponse, body: [UInt8], farewell: [UInt8]?)

    /// How many requests may be open from now on; HTTP/1.1 has one.
    func setStreamLimit(_ limit: UInt32)

    /// Takes no more requests; what is open is still answered.
    func goAway(debugData: [UInt8])

    /// Breaks the connection off with a TCP reset. Requests that were answered keep their answers; the client never learns what became
    /// of the others. No more requests are handed over.
    func breakOff()

    /// Ends the connection when what is open is answered.
    func endSoon()

    func close()
}

/// Answers the requests of one connection; called on its event loop.
protocol ConnectionResponder: AnyObject {
    /// The client has finished the TLS handshake; how many requests it may have open.
    ///
    /// - Parameter certificate: The client's, DER; nil without one.
    func open(_ connection: any ServerConnection, certificate: [UInt8]?) -> UInt32

    /// A request, which is answered now or later with `respond`, or never.
    func handle(_ request: HTTPRequest, body: [UInt8], stream: Int32, on connection: any ServerConnection)

    /// The server ends: what the connection does about it, such as GOAWAY.
    func end(_ connection: any ServerConnection)

    func closed(_ connection: any ServerConnection)
}

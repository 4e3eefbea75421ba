import HTTPTypes
import NIOCore

/// A client connection to a simulator port, over HTTP/1.1 or HTTP/2. Confined to the event loop of its channel.
protocol ServerConnection: AnyObject {
    /// `nil` once the connection is closed.
    var eventLoop: (any EventLoop)? { get }

    /// `true` for HTTP/2, `false` for HTTP/1.1.
    var isMultiplexed: Bool { get }

    /// Answers a request; ignored if the request is no longer open.
    ///
    /// - Parameter goAwayData: Closes the connection after this response, with these bytes as the debug data of GOAWAY; HTTP/1.1 sends
    ///   `Connection: close` instead. `nil` keeps it open.
    func respond(to stream: Int32, _ response: HTTPResponse, body: [UInt8], goAwayData: [UInt8]?)

    /// Sets the maximum number of concurrent requests; always one for HTTP/1.1.
    func setStreamLimit(_ limit: UInt32)

    /// Accepts no more requests; open ones are still answered.
    func goAway(debugData: [UInt8])

    /// Resets the TCP connection. Responses given before are delivered; the results of other requests remain unknown to the client. No more
    /// requests are passed on.
    func resetConnection()

    /// Closes the connection when open requests are answered.
    func endSoon()

    func close()
}

/// Answers the requests of one connection; called on its event loop.
protocol ConnectionResponder: AnyObject {
    /// Called after the TLS handshake; returns the maximum number of concurrent requests.
    ///
    /// - Parameter certificate: The client certificate, as DER; `nil` without one.
    func open(_ connection: any ServerConnection, certificate: [UInt8]?) -> UInt32

    /// Handles a request, which is answered now or later with `respond`, or never.
    func handle(_ request: HTTPRequest, body: [UInt8], stream: Int32, on connection: any ServerConnection)

    /// Called when the server shuts down, for example to send GOAWAY.
    func end(_ connection: any ServerConnection)

    func closed(_ connection: any ServerConnection)
}

package import HummingbirdCore
package import NIOCore

/// The open connections of a program's ports, with one limit for all of them. Implemented by the program that runs the simulators, so that
/// their ports share the limit of its other ports.
package protocol PortConnections: Sendable {
    /// Decides whether a port may accept a connection.
    var acceptLimiter: any AvailableConnectionsDelegate { get }

    /// Adds a port that resumes accepting when a connection closes.
    func watch(_ port: any Channel)

    /// Adds a connection, which counts until it closes. Returns false if the limit is reached and no other connection is idle.
    func open(_ channel: any Channel) -> Bool

    /// The connection has a complete request, so that it is not closed to make room for another.
    func busy(_ channel: any Channel)

    /// The requests of the connection are answered.
    func idle(_ channel: any Channel)
}

import HummingbirdCore
import NIOCore

/// Decides which connections a port accepts.
struct PortAdmission: Sendable {
    /// The connections of all ports; nil for no limit.
    var connections: (any PortConnections)?
    /// Called for each new connection; if it returns `false`, the connection is reset before anything is read.
    var admits: @Sendable () -> Bool = { true }
    /// Called once each time that connections must wait because file handles or memory are exhausted; they are accepted later.
    var onResourceShortage: @Sendable (IOError) -> Void = { _ in }

    /// Adds the handlers of a port. Must be called on its event loop, before it listens.
    func prepare(_ port: any Channel) throws {
        if let limiter = connections?.acceptLimiter { try Self.add(limiter, to: port) }
        try AcceptShortageHandler.watch(port, reportError: onResourceShortage)
    }

    private static func add(_ limiter: some AvailableConnectionsDelegate, to port: any Channel) throws {
        try port.pipeline.syncOperations.addHandler(AvailableConnectionsChannelHandler(delegate: limiter))
    }

    /// Whether a new connection may stay open.
    func accepts(_ channel: any Channel) -> Bool { admits() && connections?.open(channel) ?? true }
}

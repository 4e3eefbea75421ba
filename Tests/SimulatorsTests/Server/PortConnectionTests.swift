import Glibc
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Simulators

/// Connections that a port may not accept, that are too slow, or that are in use.
@Suite(.timeLimit(.minutes(5))) struct PortConnectionTests {
    /// Records what a port reports about its connections, and accepts as many as a test says.
    private final class Record: PortConnections {
        private struct Delegate: AvailableConnectionsDelegate {
            func connectionOpened() {}
            func connectionClosed() {}
            func isAcceptingNewConnections() -> Bool { true }
        }

        private let limit: Int
        private let events = Mutex<[String]>([])

        init(limit: Int = .max) { self.limit = limit }

        var all: [String] { events.withLock { $0 } }
        var acceptLimiter: any AvailableConnectionsDelegate { Delegate() }

        func watch(_ port: any Channel) { note("watch") }
        func open(_ channel: any Channel) -> Bool {
            events.withLock { events in
                let isOpen = events.filter { $0 == "open" }.count < limit
                events.append(isOpen ? "open" : "refuse")
                return isOpen
            }
        }
        func busy(_ channel: any Channel) { note("busy") }
        func idle(_ channel: any Channel) { note("idle") }

        private func note(_ event: String) { events.withLock { $0.append(event) } }
    }

    /// Answers with 200.
    private final class Answering: ConnectionResponder {
        func open(_ connection: any ServerConnection, certificate: [UInt8]?) -> UInt32 { 100 }
        func handle(_ request: HTTPRequest, body: [UInt8], stream: Int32, on connection: any ServerConnection) {
            connection.respond(to: stream, HTTPResponse(status: .ok), body: [], goAwayData: nil)
        }
        func end(_ connection: any ServerConnection) { connection.close() }
        func closed(_ connection: any ServerConnection) {}
    }

    /// Succeeds when a connection ends.
    private final class EndWatch: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private let time = ManualTime()

    private func listener(
        _ connections: Record, _ change: (inout HTTP2Limits) -> Void = { _ in }
    ) async throws -> (listener: TLSListener, certificate: String) {
        let identity = try #require(ServerIdentity(now: time.clock))
        var limits = HTTP2Limits()
        change(&limits)
        let listener = try await TLSListener(
            port: 0, threads: nil, tls: try identity.context(for: [.http2, .http1]), protocols: [.http2, .http1], limits: limits,
            admission: PortAdmission(connections: connections)
        ) { Answering() }
        return (listener, identity.certificate)
    }

    private let request = [(":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", "/")]

    /// A connection on which nothing is sent.
    private func silent(_ port: Int) async throws -> any Channel {
        try await ClientBootstrap(group: NIOSingletons.posixEventLoopGroup).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(EndWatch()) }
        }.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)).get()
    }

    /// Waits until a connection is reset, which can happen while it is still being opened.
    private func waitForReset(_ port: Int) async throws {
        do {
            try await silent(port).closeFuture.get()
        } catch let error as IOError {
            #expect(error.errnoCode == ECONNRESET)
        }
    }

    @Test func `a port reports its connections, and which of them are in use`() async throws {
        let record = Record()
        let (listener, certificate) = try await listener(record)
        let caller = try await HTTP2Caller(port: listener.port, trusting: certificate)
        for _ in 0..<2 { #expect(try await caller.send(request, []).status == 200) }
        #expect(record.all == ["watch", "open", "busy", "idle", "busy", "idle"])
        try await caller.close()
        await listener.end(grace: .minutes(1))
    }

    @Test func `a connection beyond the limit is reset before anything is read`() async throws {
        let record = Record(limit: 1)
        let (listener, certificate) = try await listener(record)
        let caller = try await HTTP2Caller(port: listener.port, trusting: certificate)
        #expect(try await caller.send(request, []).status == 200)
        try await waitForReset(listener.port)
        #expect(record.all.last == "refuse")
        #expect(try await caller.send(request, []).status == 200)
        try await caller.close()
        await listener.end(grace: .minutes(1))
    }

    @Test func `a connection whose handshake is too slow is closed`() async throws {
        let (listener, _) = try await listener(Record()) { $0.handshakeTimeout = .milliseconds(1) }
        try await silent(listener.port).closeFuture.get()
        await listener.end(grace: .minutes(1))
    }

    @Test func `an HTTP2 connection without a request is closed`() async throws {
        let (listener, certificate) = try await listener(Record()) { $0.firstRequestTimeout = .milliseconds(1) }
        let idle = try await HTTP2Caller(port: listener.port, trusting: certificate)
        try await idle.wait { _, isClosed in isClosed }
        await listener.end(grace: .minutes(1))
    }
}

import NIOCore
import NIOEmbedded
import PushModel
import Support
import Testing

@testable import WebAPI

/// Which connections are closed when little memory is left.
@Suite(.timeLimit(.minutes(5))) struct ClientEvictionTests {
    /// Reserves bytes as the requests of a connection do. Does not pass on a close, like a connection whose client reads nothing, not even
    /// the TLS close message.
    private final class Requests: ChannelOutboundHandler {
        typealias OutboundIn = IOData

        private let connection: ConnectionGuard
        private(set) var bytes = 0
        private(set) var isOpen = true

        init(_ connection: ConnectionGuard) { self.connection = connection }

        func reserve(_ more: Int) -> Bool {
            guard connection.reserve(more) else { return false }
            bytes += more
            return true
        }

        func release(_ fewer: Int) {
            bytes -= fewer
            connection.release(fewer)
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {}

        func handlerRemoved(context: ChannelHandlerContext) {
            release(bytes)
            isOpen = false
        }
    }

    /// A server whose connections share an event loop, which runs only when a test says so.
    private final class Bench {
        let buffers: ClientBuffers
        let loop = EmbeddedEventLoop()
        private let connections: Connections
        private var channels: [EmbeddedChannel] = []

        init(address: Int? = nil, server: Int) {
            buffers = ClientBuffers(limits: ClientBuffers.Limits(connection: .max, address: address, server: server))
            connections = Connections(limit: .max, buffers: buffers)
        }

        func connect(from address: String) throws -> Requests {
            let connection = ConnectionGuard(limits: ConnectionLimits(), connections: connections, account: buffers.account(for: address))
            let requests = Requests(connection)
            let channel = EmbeddedChannel(loop: loop)
            try channel.pipeline.syncOperations.addHandlers(connection, requests)
            channels.append(channel)
            return requests
        }

        /// Connects and reserves these bytes.
        func connect(from address: String, _ bytes: Int) throws -> Requests {
            let requests = try connect(from: address)
            #expect(requests.reserve(bytes))
            return requests
        }

        /// Closes all connections, as their timers do.
        func closeAll() {
            for channel in channels {
                try? channel.pipeline.syncOperations.context(handlerType: ConnectionGuard.self).close(promise: nil)
            }
            loop.run()
        }
    }

    @Test(arguments: [11, 100])
    func `clients that read nothing leave memory for a new one, however many addresses they use one after the other`(
        addresses: Int
    ) throws {
        let bench = Bench(address: 64, server: 256)
        // Never the largest: the others have more on average.
        let reader = try bench.connect(from: "reader", 2)
        for number in 1...addresses {
            for _ in 0..<16 {
                let client = try bench.connect(from: "\(number)")
                while client.bytes < 4, client.reserve(1) { bench.loop.run() }
            }
            let new = try bench.connect(from: "new")
            #expect(new.reserve(1), "\(number)")
            bench.loop.run()
            new.release(1)
            reader.release(1)
            #expect(reader.reserve(1), "\(number)")
            bench.loop.run()
        }
        #expect(reader.isOpen && bench.buffers.evictions > 0)
        // All but the last eighth stays in use.
        #expect((200...224).contains(bench.buffers.bytes))
        bench.closeAll()
        #expect(bench.buffers.bytes == 0)
    }

    @Test func `the largest connection of the address that buffers the most is closed once, and none before an eighth is left`() throws {
        let bench = Bench(server: 800)
        let (first, second) = (try bench.connect(from: "a", 150), try bench.connect(from: "a", 200))
        let (other, last) = (try bench.connect(from: "b", 250), try bench.connect(from: "c", 100))
        bench.loop.run()
        #expect(bench.buffers.evictions == 0 && bench.buffers.bytes == 700)
        let requester = try bench.connect(from: "d", 10)
        // Until its bytes are released, no other connection is closed.
        #expect(requester.reserve(20) && last.reserve(30) && other.reserve(40))
        #expect(!last.reserve(1))
        #expect(second.isOpen && bench.buffers.evictions == 1 && bench.buffers.bytes == 800)
        bench.loop.run()
        #expect(!second.isOpen && first.isOpen && other.isOpen && last.isOpen && requester.isOpen)
        #expect(bench.buffers.evictions == 1 && bench.buffers.bytes == 600)
        #expect(last.reserve(100))
        bench.loop.run()
        #expect(bench.buffers.evictions == 1)
        bench.closeAll()
        #expect(bench.buffers.bytes == 0)
    }

    @Test func `connections are closed until an eighth is left, even without further requests`() throws {
        let bench = Bench(server: 800)
        let clients = try (1...7).flatMap { number in try (1...2).map { _ in try bench.connect(from: "\(number)", 50) } }
        let (first, second) = (try bench.connect(from: "a", 50), try bench.connect(from: "b", 50))
        #expect(bench.buffers.evictions == 1 && bench.buffers.bytes == 800)
        bench.loop.run()
        #expect(bench.buffers.evictions == 2 && bench.buffers.bytes == 700)
        #expect(clients.count { $0.isOpen } == 12 && first.isOpen && second.isOpen)
        bench.closeAll()
    }

    @Test func `the address that buffers the most is refused instead of closing others, also if it is the only one`() throws {
        let bench = Bench(server: 800)
        let (first, second) = (try bench.connect(from: "a", 600), try bench.connect(from: "a", 100))
        #expect(!first.reserve(1) && !second.reserve(1))
        // Small clients get a part of the last eighth.
        let other = try bench.connect(from: "b")
        #expect(!second.reserve(1) && bench.buffers.evictions == 0)
        #expect(other.reserve(1) && bench.buffers.evictions == 1)
        bench.loop.run()
        #expect(!first.isOpen && second.isOpen && other.isOpen && bench.buffers.bytes == 101)
        // With as many bytes as the largest, it would only take its place.
        #expect(other.reserve(499) && second.reserve(100))
        #expect(!second.reserve(300) && bench.buffers.evictions == 1 && bench.buffers.bytes == 700)
        bench.closeAll()
        #expect(bench.buffers.bytes == 0)
    }

    @Test func `a small client gets memory although many others have less each, and is not closed for it`() throws {
        let bench = Bench(server: 2048)
        for number in 1...1792 { _ = try bench.connect(from: "\(number)", 1) }
        let (new, larger) = (try bench.connect(from: "new"), try bench.connect(from: "larger"))
        #expect(!larger.reserve(3) && bench.buffers.evictions == 0)
        #expect(new.reserve(2) && bench.buffers.evictions == 1)
        bench.loop.run()
        // Still more than seven eighths.
        #expect(new.isOpen && bench.buffers.evictions == 1 && bench.buffers.bytes == 1793)
        #expect(larger.reserve(2) && bench.buffers.evictions == 2)
        bench.closeAll()
        #expect(bench.buffers.bytes == 0)
    }

    @Test func `a connection that closes by itself is not closed again, and another one can be closed afterwards`() throws {
        let bench = Bench(server: 800)
        let (first, second) = (try bench.connect(from: "a", 300), try bench.connect(from: "b", 250))
        let third = try bench.connect(from: "c", 150)
        #expect(third.reserve(10) && bench.buffers.evictions == 1)
        bench.closeAll()
        #expect(!first.isOpen && !second.isOpen && !third.isOpen)
        #expect(bench.buffers.evictions == 1 && bench.buffers.bytes == 0)
        let largest = try bench.connect(from: "d", 500)
        let smaller = try bench.connect(from: "e", 200)
        #expect(smaller.reserve(1) && bench.buffers.evictions == 2)
        bench.loop.run()
        #expect(!largest.isOpen && smaller.isOpen)
        bench.closeAll()
    }

    @Test func `an unread response over a real connection is closed for the body of another address`() async throws {
        let plugins = ScriptedPlugins([
            ScriptedRoute { _ in PluginResponse(status: 200, headers: [], body: [UInt8](repeating: 0x61, count: 4 << 20)) },
            ScriptedRoute(method: "POST", bodyLimit: 8 << 20),
        ])
        let server = (40 << 20) / 7
        let buffers = ClientBuffers(limits: ClientBuffers.Limits(connection: .max, address: nil, server: server))
        try await ServedPlugins.serving(plugins, buffers: buffers) { served in
            let unread = try await PlainCaller(port: served.port, from: "127.0.1.1", isReading: false)
            try await unread.write(ServedPlugins.head("GET", "/plugins/greet"))
            // The system buffers only a small part.
            try await until { buffers.bytes > 7 << 19 }
            let other = try await PlainCaller(port: served.port, from: "127.0.1.2")
            let body = [UInt8](repeating: 0x61, count: 3 << 19)
            let length = ("Content-Length", "\(body.count + 1)")
            try await other.write(ServedPlugins.head("POST", "/plugins/greet", [length, ("Connection", "close")]) + body)
            try await until { buffers.evictions == 1 && (3 << 19..<2 << 20).contains(buffers.bytes) }
            try await other.write([0x61])
            #expect(try PlainAnswer(try await other.all()).status == 200)
            #expect(buffers.evictions == 1 && buffers.refusals == 0)
            try? await unread.close()
            try await until { buffers.bytes == 0 }
        }
    }
}

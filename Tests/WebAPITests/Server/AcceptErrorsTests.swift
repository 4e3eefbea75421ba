import Glibc
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import WebAPI

@Suite(.timeLimit(.minutes(5))) struct AcceptErrorsTests {
    private static let silent = Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }

    /// A port, and the connections that it accepts.
    private func port(_ body: (any Channel, AsyncStream<any Channel>) async throws -> Void) async throws {
        let (accepted, continuation) = AsyncStream.makeStream(of: (any Channel).self)
        let port = try await ServerBootstrap(group: NIOSingletons.posixEventLoopGroup)
            .childChannelInitializer { channel in
                continuation.yield(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }.bind(host: "127.0.0.1", port: 0).get()
        try await AcceptErrorHandler.watch(port, Self.silent)
        try await body(port, accepted)
        try await port.close()
    }

    private func isReading(_ port: any Channel) async throws -> Bool { try await port.getOption(.autoRead).get() }

    @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM])
    func `a port without file handles or memory stops accepting, and resumes by itself`(error: CInt) async throws {
        try await port { port, accepted in
            // Both at once on the event loop: the pause lasts only a second.
            let readsByItself = try await port.eventLoop.flatSubmit {
                port.pipeline.fireErrorCaught(IOError(errnoCode: error, reason: "accept"))
                return port.getOption(.autoRead)
            }.get()
            #expect(!readsByItself)
            // Further connection attempts do not end the pause.
            port.read()
            let address = try #require(port.localAddress)
            let client = try await ClientBootstrap(group: NIOSingletons.posixEventLoopGroup).connect(to: address).get()
            var iterator = accepted.makeAsyncIterator()
            #expect(await iterator.next() != nil)
            #expect(try await isReading(port))
            try await client.close()
        }
    }

    @Test func `a client that disconnects before it is accepted has no effect`() async throws {
        try await port { port, _ in
            port.pipeline.fireErrorCaught(IOError(errnoCode: ECONNABORTED, reason: "accept"))
            let readsByItself = try await isReading(port)
            #expect(readsByItself)
        }
    }
}

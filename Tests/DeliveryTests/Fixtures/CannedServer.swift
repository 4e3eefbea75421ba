import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server on the loopback interface that accepts any request and behaves in one fixed way.
final class CannedServer: Sendable {
    enum Behaviour: Sendable {
        /// Answers every complete request with these bytes.
        case answering(String)
        /// Answers with these bytes and closes the connection, with or without TLS close_notify.
        case parting(String, isCut: Bool = false)
        /// Answers with the first text and then repeats the second after short pauses.
        case dripping(String, String)
        /// Sends these bytes on every connection, and nothing else.
        case greeting(String)
        /// Closes the connection after the request.
        case closing
        /// Sends nothing.
        case silent
    }

    let port: Int
    private let channel: any Channel
    private let record: ServerRecord

    private final class ServerRecord: Sendable {
        let requests = Mutex<[String]>([])
        let accepted = Atomic(0)
        let closed = Atomic(0)
    }

    init(_ behaviour: Behaviour, tls: NIOSSLContext? = nil) async throws {
        let record = ServerRecord()
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    record.accepted.add(1, ordering: .sequentiallyConsistent)
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Clerk(behaviour: behaviour, record: record))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        self.record = record
    }

    /// Complete requests in order of arrival.
    var requests: [String] { record.requests.withLock { $0 } }

    /// Accepted connections.
    var accepted: Int { record.accepted.load(ordering: .sequentiallyConsistent) }
    /// Accepted connections that have closed.
    var closed: Int { record.closed.load(ordering: .sequentiallyConsistent) }

    func stop() async throws { try await channel.close().get() }

    private final class Clerk: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let behaviour: Behaviour
        private let record: ServerRecord
        private var text = ""

        init(behaviour: Behaviour, record: ServerRecord) {
            self.behaviour = behaviour
            self.record = record
        }

        func channelActive(context: ChannelHandlerContext) {
            if case .greeting(let text) = behaviour { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil) }
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard let head = text.firstRange(of: "\r\n\r\n") else { return }
            let length = text[..<head.lowerBound].lowercased().firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
            guard text[head.upperBound...].utf8.count >= length else { return }
            record.requests.withLock { $0.append(text) }
            text = ""
            switch behaviour {
            case .answering(let answer): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            case .parting(let answer, let isCut):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
                let tls = try? context.channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
                (isCut ? tls ?? context : context).close(promise: nil)
            case .dripping(let first, let next):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: first)), promise: nil)
                drip(ByteBuffer(string: next), context)
            case .closing: context.close(promise: nil)
            case .greeting, .silent: break
            }
        }

        private func drip(_ piece: ByteBuffer, _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(piece)).assumeIsolated().whenSuccess { [self] in
                // A loop whose tasks always schedule another one never polls its connections.
                context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [self] in drip(piece, context) }
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            record.closed.add(1, ordering: .sequentiallyConsistent)
            context.fireChannelInactive()
        }
    }
}

/// A port that is bound for the lifetime of this object and refuses connections.
final class ClosedPort {
    let number: Int
    private let descriptor: Int32

    init() {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                _ = bind(descriptor, place, size)
                _ = getsockname(descriptor, place, &size)
            }
        }
        self.descriptor = descriptor
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}

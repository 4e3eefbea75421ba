import NIOCore
import NIOPosix
import Synchronization

/// A port on loopback whose answers a test defines, request by request.
final class ScriptedServer: Sendable {
    enum Answer: Sendable {
        /// The raw response without `Content-Length`, and its body.
        case bytes(head: String, body: String)
        /// Closes the connection without an answer.
        case close
        /// Sends nothing.
        case silence

        static func status(_ status: String, _ headers: [String] = [], body: String = "") -> Answer {
            .bytes(head: (["HTTP/1.1 \(status)"] + headers).joined(separator: "\r\n"), body: body)
        }
    }

    private struct State {
        var answers: [Answer]
        var requests: [String] = []
    }

    let port: Int
    private let channel: any Channel
    private let state: StateBox

    private final class StateBox: Sendable {
        let state: Mutex<State>
        let (connections, connected) = AsyncStream<Void>.makeStream()

        init(_ answers: [Answer]) { state = Mutex(State(answers: answers)) }

        /// The last answer repeats.
        func answer(to request: String) -> Answer {
            state.withLock { state in
                state.requests.append(request)
                return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
            }
        }
    }

    private init(_ answers: [Answer]) async throws {
        let state = StateBox(answers)
        self.state = state
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler(state)) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// The requests in order of arrival, each with head and body.
    var requests: [String] { state.state.withLock { $0.requests } }

    /// Waits for a connection.
    func connected() async {
        for await _ in state.connections { return }
    }

    /// Listens while `body` runs.
    static func serving(_ answers: Answer..., body: (ScriptedServer) async throws -> Void) async throws {
        let server = try await ScriptedServer(answers)
        do {
            try await body(server)
        } catch {
            try? await server.channel.close()
            throw error
        }
        try await server.channel.close()
    }

    /// Reads requests without pipelining, with `Content-Length` or without a body.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let state: StateBox
        private var text = ""

        func channelActive(context: ChannelHandlerContext) { state.connected.yield() }

        init(_ state: StateBox) { self.state = state }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard let end = text.firstRange(of: "\r\n\r\n") else { return }
            let length = text[..<end.lowerBound].lowercased().firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
            guard text[end.upperBound...].utf8.count >= length else { return }
            let request = text
            text = ""
            switch state.answer(to: request) {
            case .bytes(let head, let body):
                let answer = "\(head)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            case .close: context.close(promise: nil)
            case .silence: break
            }
        }
    }
}

import NIOCore
import NIOPosix
import NIOSSL
import Simulators
import Testing

/// One HTTP/1.1 connection over TLS on which tests write raw text.
actor HTTP1Caller {
    private let channel: any Channel
    private let bound: NIOLoopBound<Conversation>

    private final class Conversation: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var text = ""
        var isClosed = false
        private var waiters: [(isDone: (String, Bool) -> Bool, promise: EventLoopPromise<Void>)] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            settle()
        }

        func channelInactive(context: ChannelHandlerContext) {
            isClosed = true
            settle()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func wait(until isDone: @escaping (String, Bool) -> Bool, _ promise: EventLoopPromise<Void>) {
            waiters.append((isDone, promise))
            settle()
        }

        private func settle() {
            let ready = waiters.filter { $0.isDone(text, isClosed) }
            waiters.removeAll { $0.isDone(text, isClosed) }
            for waiter in ready { waiter.promise.succeed() }
        }
    }

    /// - Parameter protocols: The protocols that it offers in TLS.
    init(_ network: SimulatorNetwork, protocols: [String] = ["http/1.1"]) async throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = protocols
        // The certificate is valid at the time of a fixed clock, which may differ from the machine's.
        configuration.certificateVerification = .none
        let context = try NIOSSLContext(configuration: configuration)
        let port = network.listener.port
        (channel, bound) = try await ClientBootstrap(group: NIOSingletons.posixEventLoopGroup).connect(host: "127.0.0.1", port: port) {
            channel in
            channel.eventLoop.makeCompletedFuture {
                let conversation = Conversation()
                try channel.pipeline.syncOperations.addHandlers(
                    try NIOSSLClientHandler(context: context, serverHostname: "localhost"), conversation)
                return (channel, NIOLoopBound(conversation, eventLoop: channel.eventLoop))
            }
        }
    }

    /// Sends raw bytes, with CR LF for each line feed.
    func write(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text.replacing("\n", with: "\r\n")))
    }

    /// Waits until the received text, or the end of the connection, fulfils a condition, and returns the text.
    @discardableResult
    func hear(until isDone: @escaping @Sendable (String, _ isClosed: Bool) -> Bool) async throws -> String {
        try await channel.eventLoop.flatSubmit { [bound, channel] in
            let promise = channel.eventLoop.makePromise(of: Void.self)
            // A guard against hanging, not a measurement.
            let guardian = channel.eventLoop.scheduleTask(in: .minutes(5)) { promise.fail(ChannelError.eof) }
            promise.futureResult.whenComplete { _ in guardian.cancel() }
            bound.value.wait(until: isDone, promise)
            return promise.futureResult.map { bound.value.text }
        }.get()
    }

    /// Sends a request and waits for its answer, or the end of the connection: the first line of the last answer, such as
    /// `HTTP/1.1 200 OK`, and the whole text. Every answer must have a body with a length.
    func ask(_ text: String, answers count: Int = 1) async throws -> (line: String, text: String) {
        try await write(text)
        let heard = try await hear { heard, isClosed in isClosed || Self.answers(in: heard).count >= count }
        let last = Self.answers(in: heard).last ?? ""
        return (String(last.prefix { $0 != "\n" }), last)
    }

    /// The complete answers so far, each with its body.
    static func answers(in text: String) -> [String] {
        var answers: [String] = []
        var rest = Substring(text.replacing("\r\n", with: "\n"))
        while let end = rest.firstRange(of: "\n\n") {
            let head = rest[..<end.lowerBound]
            let length = head.split(separator: "\n").lazy.compactMap { line in
                line.lowercased().hasPrefix("content-length: ") ? Int(line.dropFirst(16)) : nil
            }.first
            let body = rest[end.upperBound...].utf8.prefix(length ?? 0)
            guard body.count == length ?? 0 else { break }
            answers.append(String(head) + "\n\n" + String(decoding: Array(body), as: UTF8.self))
            rest = rest[body.endIndex...]
        }
        return answers
    }

    func close() async throws { try? await channel.close() }
}

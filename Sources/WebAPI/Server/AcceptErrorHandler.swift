import Glibc
import Logging
import NIOCore

/// Keeps a port open after a failed accept, which NIO treats as the end of the port. On a shortage of files or memory it stops accepting
/// for a second, because the pending connections would otherwise cause failed attempts in a tight loop. Clients that have already
/// disconnected are ignored.
final class AcceptErrorHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private static let shortages: Set<CInt> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]
    private static let pause = TimeAmount.seconds(1)
    /// Interval at which the log repeats a persistent shortage.
    private static let silence = TimeAmount.minutes(1)

    private let log: Logger
    private var resumption: Scheduled<Void>?
    private var reported: NIODeadline?

    private init(_ log: Logger) { self.log = log }

    func read(context: ChannelHandlerContext) {
        if resumption == nil { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError else { return context.fireErrorCaught(error) }
        guard Self.shortages.contains(error.errnoCode), resumption == nil else { return }
        report(error)
        let port = context.channel
        resumption = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            resumption = nil
            try? port.syncOptions?.setOption(.autoRead, value: true)
        }
        // Skipping reads is not sufficient: the port would stay registered with the system's poller.
        try? port.syncOptions?.setOption(.autoRead, value: false)
    }

    func channelInactive(context: ChannelHandlerContext) {
        resumption?.cancel()
        context.fireChannelInactive()
    }

    private func report(_ error: IOError) {
        let now = NIODeadline.now()
        guard reported.map({ now - $0 > Self.silence }) ?? true else { return }
        reported = now
        let why = String(cString: strerror(error.errnoCode))
        log.error("cannot accept new connections: \(why); allow more open files with ulimit -n, or lower limits.connections")
    }

    static func watch(_ port: any Channel, _ log: Logger) async throws {
        try await port.eventLoop.submit {
            // An error of another port may have cancelled the server's start.
            guard port.isActive else { return }
            // Number of connections accepted before the limit is checked again.
            try port.syncOptions?.setOption(.maxMessagesPerRead, value: 4)
            try port.pipeline.syncOperations.addHandler(AcceptErrorHandler(log), position: .first)
        }.get()
    }
}

import Glibc
import NIOCore

/// Keeps a port open where a connection could not be taken for want of files or memory: those that wait are taken when there is
/// room again. The system tells of them without end meanwhile, and the library would try without end.
final class AcceptPause: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private let tell: @Sendable (IOError) -> Void
    private var latest: NIODeadline?
    private var resumption: Scheduled<Void>?

    /// Between two attempts.
    private static let pause = TimeAmount.milliseconds(200)
    /// After so long without it, it is news.
    private static let silence = TimeAmount.minutes(1)
    private static let shortages: Set<CInt> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private init(_ tell: @escaping @Sendable (IOError) -> Void) { self.tell = tell }

    /// To be called on the port's event loop.
    ///
    /// - Parameter tell: Called once for a shortage, however many connections it befalls.
    static func watch(_ port: any Channel, tell: @escaping @Sendable (IOError) -> Void) throws {
        // How many are taken before it is asked again whether there is room.
        try port.syncOptions?.setOption(.maxMessagesPerRead, value: 4)
        try port.pipeline.syncOperations.addHandler(AcceptPause(tell), position: .first)
    }

    func read(context: ChannelHandlerContext) {
        if resumption == nil { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError else { return context.fireErrorCaught(error) }
        // One client that was gone before it was taken is none.
        guard Self.shortages.contains(error.errnoCode), resumption == nil else { return }
        let now = NIODeadline.now()
        let isNews = latest.map { now - $0 > Self.silence } ?? true
        latest = now
        let port = context.channel
        resumption = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            resumption = nil
            try? port.syncOptions?.setOption(.autoRead, value: true)
        }
        // A pause between two attempts to read alone does not do it: the port would stay registered with the system.
        try? port.syncOptions?.setOption(.autoRead, value: false)
        if isNews { tell(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        resumption?.cancel()
        context.fireChannelInactive()
    }
}

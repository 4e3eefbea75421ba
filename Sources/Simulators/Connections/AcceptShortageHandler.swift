import Glibc
import NIOCore

/// Pauses a port when a connection cannot be accepted because file handles or memory are exhausted, and resumes later. Without it, the
/// server library would retry in a busy loop, because the system keeps reporting the waiting connections.
final class AcceptShortageHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private let reportError: @Sendable (IOError) -> Void
    private var latest: NIODeadline?
    private var resumption: Scheduled<Void>?

    /// Pause between two attempts.
    private static let pause = TimeAmount.milliseconds(200)
    /// Time without a shortage after which the next one is reported.
    private static let silence = TimeAmount.minutes(1)
    private static let shortages: Set<CInt> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private init(_ reportError: @escaping @Sendable (IOError) -> Void) { self.reportError = reportError }

    /// Starts watching. Must be called on the port's event loop.
    ///
    /// - Parameter reportError: Called once per shortage, however many connections it affects.
    static func watch(_ port: any Channel, reportError: @escaping @Sendable (IOError) -> Void) throws {
        // Number of connections accepted before the shortage is checked again.
        try port.syncOptions?.setOption(.maxMessagesPerRead, value: 4)
        try port.pipeline.syncOperations.addHandler(AcceptShortageHandler(reportError), position: .first)
    }

    func read(context: ChannelHandlerContext) {
        if resumption == nil { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError else { return context.fireErrorCaught(error) }
        // Other errors concern a single client, such as one that disconnected before it was accepted.
        guard Self.shortages.contains(error.errnoCode), resumption == nil else { return }
        let now = NIODeadline.now()
        let isNews = latest.map { now - $0 > Self.silence } ?? true
        latest = now
        let port = context.channel
        resumption = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            resumption = nil
            try? port.syncOptions?.setOption(.autoRead, value: true)
        }
        // Ignoring `read` is not enough: the port would stay registered with the system.
        try? port.syncOptions?.setOption(.autoRead, value: false)
        if isNews { reportError(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        resumption?.cancel()
        context.fireChannelInactive()
    }
}

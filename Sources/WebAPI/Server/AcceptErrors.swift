import Glibc
import Logging
import NIOCore

/// Keeps a port open where a connection could not be accepted. For want of files or memory it stops accepting for a second: the system
/// reports the connections that wait without end, and the library would try to accept them without end. Clients that were gone already
/// do not matter. The library takes any error of a port for its end.
final class AcceptErrors: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private static let shortages: Set<CInt> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]
    private static let pause = TimeAmount.seconds(1)
    /// The log repeats a shortage that lasts.
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
        // A pause between two attempts to read alone does not do it: the port would stay registered with the system.
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
        log.error("new connections wait: \(why); allow more open files with ulimit -n, or lower limits.connections")
    }

    static func watch(_ port: any Channel, _ log: Logger) async throws {
        try await port.eventLoop.submit {
            // Another port may have kept the server from its start.
            guard port.isActive else { return }
            // How many are taken before it is asked again whether there is room.
            try port.syncOptions?.setOption(.maxMessagesPerRead, value: 4)
            try port.pipeline.syncOperations.addHandler(AcceptErrors(log), position: .first)
        }.get()
    }
}

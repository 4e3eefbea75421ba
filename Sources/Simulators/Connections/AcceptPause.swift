import Glibc
import NIOCore

/// Keeps a port open where a connection could not be taken for want of files or memory: those that wait are taken when there is
/// room again. The system tells of them without end meanwhile, and the library would try without end.
final class AcceptPause {
    private let tell: @Sendable (IOError) -> Void
    private var latest: NIODeadline?

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
        let pause = AcceptPause(tell)
        // How many are taken before it is asked again whether there is room.
        try port.syncOptions?.setOption(.maxMessagesPerRead, value: 4)
        try port.pipeline.syncOperations.addHandler(
            AcceptBackoffHandler(shouldForwardIOErrorCaught: false) { pause.length(after: $0) }, position: .first)
    }

    /// Nil, for none, where one client was gone before it was taken.
    private func length(after error: IOError) -> TimeAmount? {
        guard Self.shortages.contains(error.errnoCode) else { return nil }
        let now = NIODeadline.now()
        let isNews = latest.map { now - $0 > Self.silence } ?? true
        latest = now
        if isNews { tell(error) }
        return Self.pause
    }
}

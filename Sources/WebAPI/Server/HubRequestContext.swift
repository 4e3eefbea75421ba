import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// What belongs to a request beside what its client sent.
package struct HubRequestContext: InitializableFromSource {
    private let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    /// As `WebRequest` has it.
    var clientAddress: String { ClientAddress.name(of: channel.remoteAddress) }

    /// Returns when the client has closed its side or its connection is gone, or when the task is cancelled. Who closes one side alone
    /// after a request is taken for gone, too: nothing else tells a client that was ended from one that listens.
    ///
    /// - Parameter isWatched: called once a departure would be noticed.
    func departure(_ isWatched: @escaping @Sendable () -> Void) async {
        let (departures, continuation) = AsyncStream.makeStream(of: Void.self)
        // In turn: a task that is cancelled at once must not remove what is not there yet.
        channel.eventLoop.execute { [channel] in
            defer { isWatched() }
            guard channel.isActive else { return continuation.finish() }
            do {
                try channel.pipeline.syncOperations.addHandler(
                    DepartureWatch { continuation.finish() }, name: DepartureWatch.name, position: .first)
            } catch {
                continuation.finish()
            }
        }
        for await _ in departures {}
        channel.eventLoop.execute { [channel] in
            channel.pipeline.syncOperations.removeHandler(name: DepartureWatch.name, promise: nil)
        }
    }

    /// Lets a client go on that asks before it sends a body (`Expect: 100-continue`, RFC 9110, section 10.1.1): some of them wait
    /// a second or longer for the answer, at every send.
    func letGoOn() async throws {
        try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
    }
}

/// Tells when a client is gone.
private final class DepartureWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    static let name = "departure"

    private let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { action() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        action()
        context.fireChannelInactive()
    }
}

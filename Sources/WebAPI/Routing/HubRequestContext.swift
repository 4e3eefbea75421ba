import HTTPTypes
package import Hummingbird
import NIOCore
import NIOHTTPTypes

/// The connection of a request.
package struct HubRequestContext: InitializableFromSource {
    private let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    /// The client's address in the form of `WebRequest.Client.address`.
    var clientAddress: String { ClientAddress.name(of: channel.remoteAddress) }

    /// Returns when the client has closed its side or its connection, or the task is cancelled. A client that half-closes after its request
    /// counts as gone too, because it cannot be distinguished from one that was terminated.
    ///
    /// - Parameter isWatched: Called once a disconnect would be noticed.
    func waitForDisconnect(_ isWatched: @escaping @Sendable () -> Void) async {
        let (tombstones, continuation) = AsyncStream.makeStream(of: Void.self)
        // In order on the loop: a task that is cancelled at once must not remove a handler that is not there yet.
        channel.eventLoop.execute { [channel] in
            defer { isWatched() }
            guard channel.isActive else { return continuation.finish() }
            do {
                try channel.pipeline.syncOperations.addHandler(
                    DisconnectWatch { continuation.finish() }, name: DisconnectWatch.name, position: .first)
            } catch {
                continuation.finish()
            }
        }
        for await _ in tombstones {}
        channel.eventLoop.execute { [channel] in
            channel.pipeline.syncOperations.removeHandler(name: DisconnectWatch.name, promise: nil)
        }
    }

    /// Sends `100 Continue` to a client that waits for it before sending a body (RFC 9110, section 10.1.1). Some clients wait a second or
    /// longer without it.
    func sendContinue() async throws {
        try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
    }
}

/// Reports when a client has disconnected.
private final class DisconnectWatch: ChannelInboundHandler, RemovableChannelHandler {
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

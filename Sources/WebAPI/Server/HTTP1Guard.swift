import HubWire
import NIOCore
import NIOHTTP1

/// Normalizes HTTP/1 requests: rejects what two programs could interpret differently, accepts absolute URLs, and marks the last request of
/// a connection with `Connection: close`.
final class HTTP1Guard: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    static let close = "close"

    private let chunks: ChunkGuard?
    private var isBroken = false
    private var isUpgrade = false

    /// - Parameter chunks: Counts overhead around bodies.
    init(chunks: ChunkGuard?) { self.chunks = chunks }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard let head = plain(head) else {
                isBroken = true
                return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
            }
            chunks?.begin()
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body(let part):
            chunks?.take(part.readableBytes)
            context.fireChannelRead(data)
        case .end:
            context.fireChannelRead(data)
            // After an upgrade request the parser only buffers further input.
            if isUpgrade { try? context.channel.syncOptions?.setOption(.autoRead, value: false) }
        }
    }

    /// The normalized head; nil if the request must be rejected.
    private func plain(_ head: HTTPRequestHead) -> HTTPRequestHead? {
        var head = head
        guard head.method != .CONNECT, head.headers["Host"].count <= 1 else { return nil }
        let coding = head.headers["Transfer-Encoding"]
        if !coding.isEmpty {
            // An HTTP/1.0 proxy would not see where the body ends (RFC 9112, section 6.1).
            guard head.version == .http1_1, coding.map({ $0.lowercased() }) == ["chunked"] else { return nil }
        }
        if let start = ["http://", "https://"].first(where: { head.uri.lowercased().hasPrefix($0) }) {
            let rest = head.uri.dropFirst(start.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            head.uri = (rest[authority.endIndex...].hasPrefix("/") ? "" : "/") + rest[authority.endIndex...]
            head.headers.replaceOrAdd(name: "Host", value: String(authority))
        }
        // An HTTP/1.0 client expects only one response (RFC 9110, section 10.1.1).
        if head.version != .http1_1 { head.headers.remove(name: "Expect") }
        // Upgrades are not supported, and the parser reads nothing after a request for one.
        isUpgrade = head.headers.contains(name: "Upgrade")
        if isUpgrade || !head.isKeepAlive { head.headers.replaceOrAdd(name: "Connection", value: Self.close) }
        return head
    }
}

import HubWire
import NIOCore
import NIOHTTP1

/// Makes requests of HTTP/1 plain: refuses what two programs could read differently, understands absolute addresses, and marks
/// the last request of a connection with `Connection: close`.
final class HTTP1Guard: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    static let close = "close"

    private let chunks: ChunkGuard?
    private var isBroken = false
    private var isUpgrade = false

    /// - Parameter chunks: counts what stands around bodies.
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
            // The parser only gathers what comes behind such a request.
            if isUpgrade { try? context.channel.syncOptions?.setOption(.autoRead, value: false) }
        }
    }

    /// Nil for a request to refuse.
    private func plain(_ head: HTTPRequestHead) -> HTTPRequestHead? {
        var head = head
        guard head.method != .CONNECT, head.headers["Host"].count <= 1 else { return nil }
        let coding = head.headers["Transfer-Encoding"]
        if !coding.isEmpty {
            // A program of HTTP/1.0 on the way would not see where the body ends (RFC 9112, section 6.1).
            guard head.version == .http1_1, coding.map({ $0.lowercased() }) == ["chunked"] else { return nil }
        }
        if let start = ["http://", "https://"].first(where: { head.uri.lowercased().hasPrefix($0) }) {
            let rest = head.uri.dropFirst(start.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            head.uri = (rest[authority.endIndex...].hasPrefix("/") ? "" : "/") + rest[authority.endIndex...]
            head.headers.replaceOrAdd(name: "Host", value: String(authority))
        }
        // A client of HTTP/1.0 knows of one answer only (RFC 9110, section 10.1.1).
        if head.version != .http1_1 { head.headers.remove(name: "Expect") }
        // Nothing is upgraded here, and the parser reads nothing behind a request that wants it.
        isUpgrade = head.headers.contains(name: "Upgrade")
        if isUpgrade || !head.isKeepAlive { head.headers.replaceOrAdd(name: "Connection", value: Self.close) }
        return head
    }
}

import NIOCore
import NIOEmbedded
import NIOTLS
import PushModel
import Synchronization
import Testing

@testable import Delivery

/// Timing of a connection pool, on an event loop whose clock the test moves.
@Suite struct ConnectionPoolTests {
    /// Fails until the test says otherwise, and then connects to a peer that does not answer.
    private final class Dialer: PushDialer {
        var attempts: [NIODeadline] = []
        var isWorking = false
        /// The TLS handshake never completes.
        var isMute = false
        var channels: [EmbeddedChannel] = []

        func dial(on loop: any EventLoop) -> EventLoopFuture<any Channel> {
            attempts.append(loop.now)
            guard isWorking, let loop = loop as? EmbeddedEventLoop, let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 443)
            else { return loop.makeFailedFuture(ChannelError.connectTimeout(.seconds(1))) }
            let channel = EmbeddedChannel(loop: loop)
            channel.connect(to: address, promise: nil)
            channels.append(channel)
            if !isMute {
                loop.execute { channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2")) }
            }
            return loop.makeSucceededFuture(channel)
        }

        func objection(to context: ChannelHandlerContext) -> String? { nil }
    }

    private let loop = EmbeddedEventLoop()
    private let dialer = Dialer()
    private let outcomes = NoteBook()

    private final class NoteBook: Sendable {
        let all = Mutex<[PushOutcome]>([])
        var count: Int { all.withLock { $0.count } }
        var last: PushOutcome? { all.withLock { $0.last } }
    }

    private func pool(_ limits: HTTP2Limits = HTTP2Limits(), seed: UInt64 = 1) -> ConnectionPool {
        ConnectionPool(loop: loop, dialer: dialer, limits: limits, random: SeededRandom(seed: seed))
    }

    private func send(_ number: UInt64, to pool: ConnectionPool, count: Int = 1) {
        pool.take([.send(number: number, .test(number, count: count)) { [outcomes] made in outcomes.all.withLock { $0 += made } }])
    }

    @Test func `pauses between attempts double up to a limit, each random within its second half`() {
        let pool = pool()
        for number in UInt64(1)...12 {
            send(number, to: pool)
            // A send during a long pause fails at once; other sends wait for the next attempt.
            while outcomes.count < number { loop.advanceTime(by: .milliseconds(10)) }
            loop.advanceTime(by: .seconds(60))
        }
        #expect(outcomes.count == 12)
        #expect(dialer.attempts.count == 12)
        var backOff = BackOff(limits: HTTP2Limits(), random: SeededRandom(seed: 7))
        let pauses = (0..<12).map { _ in backOff.fail() }
        for (index, pause) in pauses.enumerated() {
            let whole = min(60_000, 500 << index)
            #expect(pause >= .milliseconds(Int64(whole / 2)) && pause <= .milliseconds(Int64(whole)))
        }
        backOff.succeed()
        #expect(backOff.fail() <= .milliseconds(500))
    }

    @Test func `only one attempt is made at a time`() {
        let pool = pool()
        for number in UInt64(1)...50 { send(number, to: pool) }
        // The first send fails at once; the second attempt waits for the pause and fails for all sends since.
        #expect(dialer.attempts.count == 1)
        #expect(outcomes.count == 1)
        loop.advanceTime(by: .milliseconds(500))
        #expect(dialer.attempts.count == 2)
        #expect(outcomes.count == 50)
    }

    @Test func `a send during a long pause fails with the time until the next attempt`() throws {
        let pool = pool()
        for number in UInt64(1)...6 {
            send(number, to: pool)
            while outcomes.count < number { loop.advanceTime(by: .milliseconds(10)) }
        }
        guard case .notSent(.unreachable(let why, let wait)) = try #require(outcomes.last) else {
            Issue.record("\(String(describing: outcomes.last))")
            return
        }
        #expect(why == "the connection timed out")
        #expect(try #require(wait) > .seconds(2))
    }

    @Test func `once a connection exists, waiting requests are sent`() {
        let pool = pool()
        send(1, to: pool)
        send(2, to: pool)
        dialer.isWorking = true
        loop.advanceTime(by: .milliseconds(500))
        #expect(pool.connections == 1)
        #expect(pool.inFlight == 1)
        #expect(pool.waiting == 0)
    }

    @Test func `before the peer announces its limit one request is in flight`() {
        dialer.isWorking = true
        let pool = pool()
        send(1, to: pool, count: 100)
        loop.run()
        #expect(pool.inFlight == 1)
        #expect(pool.waiting == 99)
    }

    @Test func `a push without an answer is unknown after the deadline`() throws {
        dialer.isWorking = true
        var limits = HTTP2Limits()
        limits.pingAfter = .seconds(3_600)
        let pool = pool(limits)
        send(1, to: pool)
        loop.run()
        #expect(outcomes.count == 0)
        loop.advanceTime(by: .seconds(29))
        #expect(outcomes.count == 0)
        loop.advanceTime(by: .seconds(3))
        #expect(outcomes.last == .unknown(.overdue))
    }

    @Test func `a silent connection is pinged, and closed without an answer`() {
        dialer.isWorking = true
        let pool = pool()
        send(1, to: pool)
        loop.advanceTime(by: .seconds(60))
        #expect(pool.connections == 1)
        loop.advanceTime(by: .seconds(15))
        #expect(pool.connections == 0)
    }

    @Test func `an idle connection is closed after a while with GOAWAY`() throws {
        dialer.isWorking = true
        var limits = HTTP2Limits()
        (limits.pingAfter, limits.idle) = (.seconds(100_000), .seconds(100))
        let pool = pool(limits)
        send(1, to: pool)
        loop.advanceTime(by: .seconds(50))
        #expect(outcomes.last == .unknown(.overdue))
        #expect(pool.connections == 1)
        loop.advanceTime(by: .seconds(60))
        #expect(pool.connections == 0)
        var bytes = ByteBuffer()
        while var buffer = try dialer.channels[0].readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&buffer) }
        // The last frame is GOAWAY without an error (RFC 9113, section 6.8).
        #expect(Array(bytes.readableBytesView.suffix(17).dropFirst(3).prefix(1)) == [7])
        #expect(bytes.readableBytesView.suffix(4).allSatisfy { $0 == 0 })
    }

    @Test func `an idle pool reports it once after a while, and again after its next work`() {
        dialer.isWorking = true
        var limits = HTTP2Limits()
        (limits.pingAfter, limits.idle, limits.memory) = (.seconds(100_000), .seconds(100), .seconds(60))
        let pool = pool(limits)
        let rests = Mutex(0)
        pool.onIdle = { rests.withLock { $0 += 1 } }
        func rested(after seconds: Int64) -> Int {
            loop.advanceTime(by: .seconds(seconds))
            return rests.withLock { $0 }
        }
        send(1, to: pool)
        // The idle period begins when the unused connection is closed.
        #expect(rested(after: 50) == 0)
        #expect(rested(after: 60) == 0 && pool.connections == 0)
        #expect(rested(after: 49) == 0)
        send(2, to: pool)
        #expect(rested(after: 20) == 0)
        #expect(rested(after: 300) == 1)
        #expect(rested(after: 300) == 1)
    }

    @Test func `on shutdown waiting requests are not sent and requests in flight have time to finish`() {
        dialer.isWorking = true
        let pool = pool()
        send(1, to: pool, count: 10)
        loop.run()
        let promise = loop.makePromise(of: Void.self)
        pool.take([.close(promise)])
        #expect(pool.waiting == 0)
        #expect(pool.inFlight == 1)
        loop.advanceTime(by: .seconds(5))
        #expect(outcomes.count == 10)
        #expect(outcomes.all.withLock { $0.count { $0.isUnknown } } == 1)
        #expect(pool.connections == 0)
        #expect(throws: Never.self) { try promise.futureResult.wait() }
    }

    @Test func `a peer that chose another protocol is not sent any request`() throws {
        dialer.isWorking = true
        let pool = pool()
        send(1, to: pool)
        dialer.channels[0].pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "http/1.1"))
        let why = "it does not speak HTTP/2 (ALPN offered h2, and it chose \"http/1.1\")"
        #expect(outcomes.last == .notSent(.withoutHTTP2(why)))
        #expect(pool.connections == 0)
        #expect(try dialer.channels[0].readOutbound(as: ByteBuffer.self) == nil)
    }

    @Test func `a handshake that takes too long is given up`() {
        let pool = pool()
        dialer.isWorking = true
        dialer.isMute = true
        send(1, to: pool)
        loop.advanceTime(by: .seconds(10))
        #expect(outcomes.count == 0)
        loop.advanceTime(by: .seconds(2))
        #expect(outcomes.last?.isNotSent == true)
        #expect(pool.connections == 0)
    }
}

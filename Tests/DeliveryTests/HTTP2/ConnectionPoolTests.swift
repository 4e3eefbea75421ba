import NIOCore
import NIOEmbedded
import NIOTLS
import PushCore
import Synchronization
import Testing

@testable import Delivery

/// Times of a pool, on a loop whose clock goes when it is told to.
@Suite struct ConnectionPoolTests {
    /// Fails as long as it is told to, and then connects to nobody who would answer.
    private final class Dialer: PushDialer {
        var attempts: [NIODeadline] = []
        var isWorking = false
        /// TLS never comes about.
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

    @Test func `pauses between attempts double up to a limit, each at random in its second half`() {
        let pool = pool()
        for number in UInt64(1)...12 {
            send(number, to: pool)
            // What comes while the next attempt is far away learns of it at once; the rest waits for it.
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

    @Test func `one attempt is made at a time however many send`() {
        let pool = pool()
        for number in UInt64(1)...50 { send(number, to: pool) }
        // The first fails at once, the next one waits for the pause and fails for all that came meanwhile.
        #expect(dialer.attempts.count == 1)
        #expect(outcomes.count == 1)
        loop.advanceTime(by: .milliseconds(500))
        #expect(dialer.attempts.count == 2)
        #expect(outcomes.count == 50)
    }

    @Test func `what is sent in a long pause is told when the next attempt is`() throws {
        let pool = pool()
        for number in UInt64(1)...6 {
            send(number, to: pool)
            while outcomes.count < number { loop.advanceTime(by: .milliseconds(10)) }
        }
        guard case .notSent(.unreachable(let why, let wait)) = try #require(outcomes.last) else {
            Issue.record("\(String(describing: outcomes.last))")
            return
        }
        #expect(why == "no connection came about in time")
        #expect(try #require(wait) > .seconds(2))
    }

    @Test func `once there is a connection, what waits goes out`() {
        let pool = pool()
        send(1, to: pool)
        send(2, to: pool)
        dialer.isWorking = true
        loop.advanceTime(by: .milliseconds(500))
        #expect(pool.connections == 1)
        #expect(pool.underWay == 1)
        #expect(pool.waiting == 0)
    }

    @Test func `before the peer has told its limit one request is under way`() {
        dialer.isWorking = true
        let pool = pool()
        send(1, to: pool, count: 100)
        loop.run()
        #expect(pool.underWay == 1)
        #expect(pool.waiting == 99)
    }

    @Test func `a push without an answer is unknown after the deadline, and a push that was never begun is not sent`() throws {
        dialer.isWorking = true
        var limits = HTTP2Limits()
        limits.silence = .seconds(3_600)
        let pool = pool(limits)
        send(1, to: pool)
        loop.run()
        #expect(outcomes.count == 0)
        loop.advanceTime(by: .seconds(29))
        #expect(outcomes.count == 0)
        loop.advanceTime(by: .seconds(3))
        #expect(outcomes.last == .unknown(.overdue))
    }

    @Test func `a silent connection is asked for a sign of life, and closed without one`() {
        dialer.isWorking = true
        let pool = pool()
        send(1, to: pool)
        loop.advanceTime(by: .seconds(60))
        #expect(pool.connections == 1)
        loop.advanceTime(by: .seconds(15))
        #expect(pool.connections == 0)
    }

    @Test func `a connection that is not used is closed after a while, in good order`() throws {
        dialer.isWorking = true
        var limits = HTTP2Limits()
        (limits.silence, limits.idle) = (.seconds(100_000), .seconds(100))
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

    @Test func `a pool without connection, attempt and push says so after a while, once, and anew after its next work`() {
        dialer.isWorking = true
        var limits = HTTP2Limits()
        (limits.silence, limits.idle, limits.memory) = (.seconds(100_000), .seconds(100), .seconds(60))
        let pool = pool(limits)
        let rests = Mutex(0)
        pool.onRest = { rests.withLock { $0 += 1 } }
        func rested(after seconds: Int64) -> Int {
            loop.advanceTime(by: .seconds(seconds))
            return rests.withLock { $0 }
        }
        send(1, to: pool)
        // The connection is closed once it was not used for so long; that is when the rest begins.
        #expect(rested(after: 50) == 0)
        #expect(rested(after: 60) == 0 && pool.connections == 0)
        #expect(rested(after: 49) == 0)
        send(2, to: pool)
        #expect(rested(after: 20) == 0)
        #expect(rested(after: 300) == 1)
        #expect(rested(after: 300) == 1)
    }

    @Test func `at the end what waits is not sent and what is under way has its time`() {
        dialer.isWorking = true
        let pool = pool()
        send(1, to: pool, count: 10)
        loop.run()
        let promise = loop.makePromise(of: Void.self)
        pool.take([.close(promise)])
        #expect(pool.waiting == 0)
        #expect(pool.underWay == 1)
        loop.advanceTime(by: .seconds(5))
        #expect(outcomes.count == 10)
        #expect(outcomes.all.withLock { $0.count { $0.isUnknown } } == 1)
        #expect(pool.connections == 0)
        #expect(throws: Never.self) { try promise.futureResult.wait() }
    }

    @Test func `a peer that chose another protocol gets nothing`() throws {
        dialer.isWorking = true
        let pool = pool()
        send(1, to: pool)
        dialer.channels[0].pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "http/1.1"))
        let why = "it does not speak HTTP/2 (ALPN offered h2, and it chose \"http/1.1\")"
        #expect(outcomes.last == .notSent(.withoutHTTP2(why)))
        #expect(pool.connections == 0)
        #expect(try dialer.channels[0].readOutbound(as: ByteBuffer.self) == nil)
    }

    @Test func `a handshake that does not come about in time ends`() {
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

import NIOCore
import NIOEmbedded
import NIOTLS
import PushModel

@testable import Delivery

/// One seed: a connection pool over channels without sockets, peers that misbehave, bytes that arrive in pieces, and
/// a clock that the test moves.
final class TortureRun {
    /// A connection: the client's channel, the peer, and the bytes in transit between them.
    private final class Link {
        let channel: EmbeddedChannel
        let peer: TorturePeer
        var up = ByteBuffer()
        var down = ByteBuffer()
        var isOver = false
        /// The peer reads nothing for now.
        var isDeaf = false

        init(channel: EmbeddedChannel, peer: TorturePeer) {
            self.channel = channel
            self.peer = peer
        }
    }

    private final class Dialer: PushDialer {
        var dialed: (() -> EmbeddedChannel?)?

        func dial(on loop: any EventLoop) -> EventLoopFuture<any Channel> {
            guard let channel = dialed?() else { return loop.makeFailedFuture(ChannelError.connectTimeout(.seconds(1))) }
            return loop.makeSucceededFuture(channel)
        }

        func objection(to context: ChannelHandlerContext) -> String? { nil }
    }

    private var dice: Dice
    private let behaviour: TortureBehaviour
    let ledger = Ledger()
    private let loop = EmbeddedEventLoop()
    private let dialer = Dialer()
    private let pool: ConnectionPool
    private var links: [Link] = []
    private var ids: [PushID] = []
    private var bodies: [String: [UInt8]] = [:]
    private var batches = 0
    private var completed = 0
    private var dialFailures = 0

    init(seed: UInt64, name: String, sabotage: (inout TortureBehaviour) -> Void = { _ in }) {
        dice = Dice(seed: seed)
        var behaviour = TortureBehaviour(name, &dice)
        sabotage(&behaviour)
        self.behaviour = behaviour
        var limits = HTTP2Limits()
        limits.streams = [1, 5, 50, 200][dice.roll(0...3)]
        limits.connections = dice.roll(1...3)
        let firstStream = behaviour.firstStream
        pool = ConnectionPool(loop: loop, dialer: dialer, limits: limits, random: SeededRandom(seed: seed)) {
            try NGHTTP2Codec(slots: $0, firstStream: firstStream)
        }
        dialer.dialed = { [unowned self] in connect() }
    }

    private func connect() -> EmbeddedChannel? {
        if behaviour.cut > 0, dice.chance(5) { return nil }
        let peer = try? TorturePeer(behaviour, ledger: ledger, partSize: dice.roll(1...20)) { [unowned self] in bodies[$0] }
        guard let peer, let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 443) else { return nil }
        let channel = EmbeddedChannel(loop: loop)
        channel.connect(to: address, promise: nil)
        links.append(Link(channel: channel, peer: peer))
        loop.execute { channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2")) }
        return channel
    }

    /// Runs to the end and returns the faults.
    func faults() -> [String] {
        var left = behaviour.pushes
        while left > 0 {
            let count = min(left, dice.roll(1...12))
            left -= count
            submit(count)
            for _ in 0..<dice.roll(0...25) { step() }
        }
        settle()
        ledger.audit(ids)
        if completed != batches { ledger.note("\(completed) of \(batches) batches were completed") }
        if pool.waiting != 0 || pool.inFlight != 0 { ledger.note("\(pool.waiting) still wait, \(pool.inFlight) are still under way") }
        return ledger.faults
    }

    private func submit(_ count: Int) {
        batches += 1
        let number = UInt64(batches)
        // Every batch has its own credential, so that the token changes while streams of the batch before are open.
        let topic = "topic-\(number)"
        var fields = [PushHeader("apns-topic", topic), PushHeader("apns-push-type", "alert")]
        if behaviour.bigRequestHeader > 0, number % 2 == 0 {
            fields.append(PushHeader("x-big", String(repeating: "~", count: behaviour.bigRequestHeader)))
        }
        let body = (0..<behaviour.body).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ batches) }
        bodies[topic] = body
        let template = HeaderTemplate(
            origin: PushOrigin(authority: "localhost"), authorization: Secret("bearer \(topic)"), fields: fields)
        var batch = PushBatch(headers: template, body: body, capacity: count)
        var mine: [PushID] = []
        for index in 0..<count {
            let id = PushID(high: 0x123e_4567_e89b_42d3, low: number << 16 | UInt64(index))
            mine.append(id)
            batch.append(id: id) { $0 += "/3/device/\(String(repeating: "0", count: 60))\(index)".utf8 }
        }
        ids += mine
        // Called once, on this thread, which drives the loop.
        let completion = NIOLoopBound((run: self, ids: mine), eventLoop: loop)
        pool.take([.send(number: number, batch) { completion.value.run.complete(completion.value.ids, $0) }])
        if behaviour.cancellation > 0, batches % behaviour.cancellation == 0 {
            for _ in 0..<dice.roll(0...8) { step() }
            pool.take([.cancel(number: number)])
        }
    }

    private func complete(_ ids: [PushID], _ outcomes: [PushOutcome]) {
        completed += 1
        if ids.count != outcomes.count { ledger.note("\(outcomes.count) outcomes for \(ids.count) pushes") }
        for (id, outcome) in zip(ids, outcomes) { ledger.claim(id, outcome) }
    }

    // MARK: - The network

    private func step() {
        loop.run()
        guard let link = links.isEmpty ? nil : links[dice.roll(0...links.count - 1)] else {
            return loop.advanceTime(by: .milliseconds(Int64(dice.roll(1...900))))
        }
        switch dice.roll(0...11) {
        case 0...3: carryUp(link, dice.roll(1...700))
        case 4...7: carryDown(link, dice.roll(1...500))
        case 8, 9: _ = link.peer.answerOne(&dice)
        case 10: if dice.chance(6) { loop.advanceTime(by: .milliseconds(Int64(dice.roll(1...1_500)))) }
        default: stir(link)
        }
    }

    private func stir(_ link: Link) {
        if dice.chance(4) { link.peer.stir(&dice) }
        if behaviour.stallsWriting { link.channel.isWritable.toggle() }
        if behaviour.stallsWriting, link.channel.isWritable { link.channel.pipeline.fireChannelWritabilityChanged() }
        if behaviour.deafness > 0, dice.chance(behaviour.deafness) { link.isDeaf = true }
    }

    private func collect(_ link: Link) {
        while var buffer = try? link.channel.readOutbound(as: ByteBuffer.self) { link.up.writeBuffer(&buffer) }
    }

    private func carryUp(_ link: Link, _ most: Int) {
        collect(link)
        guard !link.isOver, !link.isDeaf, let bytes = link.up.readSlice(length: min(most, link.up.readableBytes)) else { return end(link) }
        if bytes.readableBytes > 0, !link.peer.receive(bytes) { cut(link) }
        end(link)
    }

    private func carryDown(_ link: Link, _ most: Int) {
        guard !link.isOver else { return end(link) }
        link.peer.write(to: &link.down)
        if let bytes = link.down.readSlice(length: min(most, link.down.readableBytes)), bytes.readableBytes > 0, link.channel.isActive {
            _ = try? link.channel.writeInbound(bytes)
        }
        end(link)
    }

    /// Cuts the connection: some of the bytes in transit still arrive, or none.
    private func cut(_ link: Link) {
        link.isOver = true
        link.peer.write(to: &link.down)
        if dice.chance(2), link.down.readableBytes > 0, let bytes = link.down.readSlice(length: dice.roll(1...link.down.readableBytes)) {
            _ = try? link.channel.writeInbound(bytes)
        }
        link.channel.close(promise: nil)
        loop.run()
    }

    /// Ends a closed connection: part of what the client wrote before still arrives.
    private func end(_ link: Link) {
        guard link.isOver || !link.channel.isActive else { return }
        if !link.isOver {
            collect(link)
            let last = link.up.readSlice(length: dice.roll(0...link.up.readableBytes))
            if let last, !link.isDeaf { _ = link.peer.receive(last) }
        }
        link.isOver = true
        links.removeAll { $0 === link }
    }

    /// Delivers everything in transit; requests that are never answered reach their deadline.
    private func settle() {
        for _ in 0..<5_000 {
            for link in links {
                link.channel.isWritable = true
                link.channel.pipeline.fireChannelWritabilityChanged()
                while move(link) {}
            }
            if completed == batches { return }
            loop.advanceTime(by: .milliseconds(500))
        }
    }

    /// Returns whether any bytes moved.
    private func move(_ link: Link) -> Bool {
        collect(link)
        let isIdle = link.up.readableBytes == 0 || link.isDeaf
        carryUp(link, 4_000)
        var hasAnswered = false
        while link.peer.answerOne(&dice) { hasAnswered = true }
        carryDown(link, 4_000)
        return !link.isOver && (!isIdle || hasAnswered || link.down.readableBytes > 0)
    }
}

import Delivery
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PushModel

/// The peer of the torture test on a real socket with TLS.
final class PeerServer: Sendable {
    /// State that the connections share; belongs to the event loop.
    private final class Record {
        let ledger = Ledger()
        var bodies: [String: [UInt8]] = [:]
        var connections = 0
        var open: [any Channel] = []
        /// Requests that wait for answers, and the largest number so far.
        var mostWaiting = 0
        var clientNames: [String] = []
    }

    let port: Int
    private let listener: any Channel
    private let loop: any EventLoop
    private let record: NIOLoopBoundBox<Record>

    init(
        _ behaviour: TortureBehaviour, identity: TestIdentity, protocols: [String] = ["h2"], clients: [NIOSSLCertificate] = []
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let record = NIOLoopBoundBox.makeBoxSendingValue(Record(), eventLoop: loop)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(identity.certificate)], privateKey: .privateKey(identity.key))
        configuration.applicationProtocols = protocols
        if !clients.isEmpty {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(clients)
        }
        let tls = try NIOSSLContext(configuration: configuration)
        listener = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    try pipeline.addHandler(Clerk(behaviour, record.value))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
        self.loop = loop
        self.record = record
    }

    func stop() async throws {
        try await listener.close().get()
        try await loop.submit { [record] in
            for channel in record.value.open { channel.close(promise: nil) }
        }.get()
    }

    var route: PushRoute { PushRoute(host: "127.0.0.1", port: port, name: "localhost") }
    var connections: Int { get async throws { try await loop.submit { [record] in record.value.connections }.get() } }
    var mostWaiting: Int { get async throws { try await loop.submit { [record] in record.value.mostWaiting }.get() } }
    var clientNames: [String] { get async throws { try await loop.submit { [record] in record.value.clientNames }.get() } }

    /// Sends batches concurrently and returns the faults that the ledger finds, with the outcomes.
    func send(_ batches: [PushBatch], over transport: HTTP2Transport) async throws -> (faults: [String], outcomes: [PushOutcome]) {
        for batch in batches {
            let topic = batch.headers.fields.first { $0.name == "apns-topic" }?.value ?? ""
            try await loop.submit { [record] in record.value.bodies[topic] = batch.body(0) }.get()
        }
        let results = await withTaskGroup(of: (Int, [PushOutcome]).self) { group in
            for (index, batch) in batches.enumerated() {
                group.addTask {
                    let outcomes = await transport.send(batch)
                    return (index, outcomes)
                }
            }
            var results = Array(repeating: [PushOutcome](), count: batches.count)
            for await (index, outcomes) in group { results[index] = outcomes }
            return results
        }
        let faults = try await loop.submit { [record] in
            let ledger = record.value.ledger
            for (batch, outcomes) in zip(batches, results) {
                let ids = (0..<batch.count).compactMap { batch.id($0) }
                for (id, outcome) in zip(ids, outcomes) { ledger.claim(id, outcome) }
                ledger.audit(ids)
            }
            return ledger.faults
        }.get()
        return (faults, results.flatMap { $0 })
    }

    private final class Clerk: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let behaviour: TortureBehaviour
        private let record: Record
        private var peer: TorturePeer?
        private var dice = Dice(seed: 1)

        init(_ behaviour: TortureBehaviour, _ record: Record) {
            self.behaviour = behaviour
            self.record = record
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard event is TLSUserEvent, peer == nil else { return }
            record.connections += 1
            record.open.append(context.channel)
            if let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate() {
                record.clientNames.append(certificate.description)
            }
            peer = try? TorturePeer(behaviour, ledger: record.ledger, partSize: 7) { [record] in record.bodies[$0] }
            write(context)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard let peer else { return }
            let isOpen = peer.receive(unwrapInboundIn(data))
            record.mostWaiting = max(record.mostWaiting, peer.waiting)
            while peer.answerOne(&dice) {}
            isOpen ? write(context) : context.close(promise: nil)
        }

        private func write(_ context: ChannelHandlerContext) {
            var buffer = ByteBuffer()
            peer?.write(to: &buffer)
            context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
            if peer?.isOver == true { context.close(promise: nil) }
        }
    }
}

extension PushBatch {
    /// Pushes whose ids contain the batch and the index in it.
    static func test(
        _ number: UInt64, count: Int, body: Int = 210, sender: String = "team", certificate: ClientCertificate? = nil
    ) -> PushBatch {
        let topic = "topic-\(number)"
        let origin = PushOrigin(authority: "api.push.apple.com", sender: sender, certificate: certificate)
        let headers = HeaderTemplate(
            origin: origin, authorization: Secret("bearer \(topic)"), fields: [PushHeader("apns-topic", topic)])
        var batch = PushBatch(headers: headers, body: Array(repeating: UInt8(truncatingIfNeeded: number), count: body), capacity: count)
        for index in 0..<count {
            batch.append(id: PushID(high: 0x123e_4567_e89b_42d3, low: number << 20 | UInt64(index))) {
                $0 += "/3/device/\(String(repeating: "0", count: 60))\(index)".utf8
            }
        }
        return batch
    }
}

import Delivery
import PushCore

/// From the queue item to the classified verdict: through a connector to a sink.
///
///     DeliveryBenchmark connector SERVICE PORT CERTIFICATE KEY STREAMS PUSHES
///
/// Prints how many were accepted, the seconds that passed and the CPU seconds of the process, of the sending alone.
struct ConnectorRun {
    /// Devices of a batch, as the outbox hands them out.
    private static let batchSize = 1_000
    /// Batches at a time: the next is made while the one before is on its way.
    private static let senders = 2

    let service: Service
    let sink: Sink
    let pushes: Int

    func run() async throws {
        let transport = try sink.transport()
        let connector = try service.connector(sink, transport)
        let batches = (0..<max(1, pushes / Self.batchSize)).map { service.batch($0, size: Self.batchSize) }
        // The connection, and the token that is signed or fetched once an hour.
        _ = await Self.send([service.batch(0, size: Self.batchSize)], connector)
        let start = Moment.now
        let accepted = await Self.send(batches, connector)
        let spent = Moment.now - start
        print("\(accepted) \(spent.passed) \(spent.processor)")
        await transport.shutdown()
    }

    /// How many a service took and gave an id. What comes back without an answer is sent again, as a hub does it.
    private static func send(_ batches: [DeliveryBatch], _ connector: any Connector) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for first in 0..<senders {
                group.addTask {
                    var accepted = 0
                    for index in stride(from: first, to: batches.count, by: senders) {
                        accepted += await Self.send(batches[index], connector)
                    }
                    return accepted
                }
            }
            return await group.reduce(0, +)
        }
    }

    private static func send(_ batch: DeliveryBatch, _ connector: any Connector) async -> Int {
        var (batch, accepted) = (batch, 0)
        while true {
            let verdicts = await connector.deliver(batch)
            let before = accepted
            for case .accepted(.some) in verdicts { accepted += 1 }
            if accepted - before == verdicts.count { return accepted }
            let open = zip(batch.handles, verdicts).filter { $0.1.mayBeSentAgain }.map(\.0)
            if open.isEmpty { return accepted }
            batch.handles = open
        }
    }
}

extension Verdict {
    fileprivate var mayBeSentAgain: Bool {
        switch self {
        case .accepted, .rejected: false
        case .transient, .unknown: true
        }
    }
}

import Delivery
import PushModel

/// Measures a connector: from the queue item to the classified verdict, with a sink as the push service.
///
///     DeliveryBenchmark connector SERVICE PORT CERTIFICATE KEY STREAMS PUSHES
///
/// Prints the accepted pushes, the elapsed seconds, and the CPU seconds of the process, for sending only.
struct ConnectorRun {
    /// The size of a batch, as in the outbox.
    private static let batchSize = 1_000
    /// Concurrent batches: the next is prepared while the one before is in flight.
    private static let senders = 2

    let service: Service
    let sink: Sink
    let pushes: Int

    func run() async throws {
        let transport = try sink.transport()
        let connector = try service.connector(sink, transport)
        let batches = (0..<max(1, pushes / Self.batchSize)).map { service.batch($0, size: Self.batchSize) }
        // Opens the connection, and signs or fetches the token that lasts for an hour.
        _ = await Self.send([service.batch(0, size: Self.batchSize)], connector)
        let start = ProcessUsage.now
        let accepted = await Self.send(batches, connector)
        let spent = ProcessUsage.now - start
        print("\(accepted) \(spent.passed) \(spent.processor)")
        await transport.shutdown()
    }

    /// The number of pushes that were accepted with an id. Pushes without an answer are sent again, as by a hub.
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

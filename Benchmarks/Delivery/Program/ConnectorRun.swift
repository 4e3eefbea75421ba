import Delivery
import PushCore

/// From the queue item to the classified verdict: through the APNs connector to a sink.
///
///     DeliveryBenchmark connector PORT CERTIFICATE KEY STREAMS PUSHES
///
/// Prints how many were accepted, the seconds that passed and the CPU seconds of the process, of the sending alone.
struct ConnectorRun {
    /// Devices of a batch, as the outbox hands them out.
    private static let batchSize = 1_000
    /// Batches at a time: the next is made while the one before is on its way.
    private static let senders = 2

    let sink: Sink
    let pushes: Int

    func run() async throws {
        let transport = try sink.transport()
        let connector = try sink.connector(transport)
        let batches = (0..<max(1, pushes / Self.batchSize)).map(Self.batch)
        // The connection, and the token that is signed once an hour.
        _ = await connector.deliver(Self.batch(0))
        let start = Moment.now
        let accepted = await Self.send(batches, connector)
        let spent = Moment.now - start
        print("\(accepted) \(spent.passed) \(spent.processor)")
        await transport.shutdown()
    }

    private static func send(_ batches: [DeliveryBatch], _ connector: APNsConnector) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for first in 0..<senders {
                group.addTask {
                    var accepted = 0
                    for index in stride(from: first, to: batches.count, by: senders) {
                        for case .accepted(.some) in await connector.deliver(batches[index]) { accepted += 1 }
                    }
                    return accepted
                }
            }
            return await group.reduce(0, +)
        }
    }

    /// Tokens of 64 digits.
    private static func batch(_ number: Int) -> DeliveryBatch {
        let handles = (0..<batchSize).map { index -> DeviceHandle in
            let digits = String(number * batchSize + index, radix: 16, uppercase: true)
            return .apns(token: String(repeating: "0", count: 64 - digits.count) + digits)
        }
        return DeliveryBatch(notificationID: "n\(number)", platform: .apns, body: Sink.body, handles: handles)
    }
}

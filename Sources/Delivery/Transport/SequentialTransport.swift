import PushModel

/// Sends the requests of a batch one after the other, so that traces are reproducible.
package struct SequentialTransport: PushBatchTransport {
    private let base: any PushTransport

    package init(_ base: any PushTransport) {
        self.base = base
    }

    package var isSequential: Bool { true }

    package func destination(of origin: PushOrigin) -> String { base.destination(of: origin.authority) }

    /// Does nothing: it has no connections.
    package func shutdown() async {}

    package func send(_ batch: PushBatch) async -> [PushOutcome] { await base.send(batch, width: 1) }
}

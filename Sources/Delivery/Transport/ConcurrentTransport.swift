import PushModel

/// Sends the requests of a batch as concurrent single exchanges, for services that speak HTTP/1.1.
package struct ConcurrentTransport: PushBatchTransport {
    private let base: any PushTransport
    private let width: Int

    /// - Parameter width: Maximum number of concurrent requests per batch.
    package init(_ base: any PushTransport, width: Int = 32) {
        (self.base, self.width) = (base, width)
    }

    package var isSequential: Bool { false }

    /// Does nothing: the connections are those of the base.
    package func shutdown() async {}

    package func destination(of origin: PushOrigin) -> String { base.destination(of: origin.authority) }

    package func send(_ batch: PushBatch) async -> [PushOutcome] { await base.send(batch, width: width) }
}

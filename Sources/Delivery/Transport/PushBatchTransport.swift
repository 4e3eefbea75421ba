import PushModel

/// Sends many pushes at once, over HTTP/2 connections or one exchange at a time to a service in this process.
package protocol PushBatchTransport: Sendable {
    /// Returns one outcome per request, in order. Suspends while too many pushes are waiting. If the task is cancelled, waiting pushes are
    /// not sent, and those in flight are awaited.
    func send(_ batch: PushBatch) async -> [PushOutcome]

    /// The host and port that requests of this origin really go to, for error messages.
    func destination(of origin: PushOrigin) -> String

    /// Whether requests are sent one at a time, in order. Then a caller may wait for the outcome of each before the next one.
    var isSequential: Bool { get }

    /// Stops sending. Waiting pushes are not sent, pushes in flight have some time to be answered; then connections are closed.
    func shutdown() async
}

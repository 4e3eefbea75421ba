package import PushModel
import Synchronization

/// Sends over HTTP/2, and over HTTP/1.1 to origins that do not support it. Remembers these origins for some time.
///
/// Await `shutdown()` before the program ends.
package final class NegotiatedTransport: PushBatchTransport {
    /// How long an origin is remembered as one without HTTP/2.
    static let memory: Duration = .seconds(600)
    /// Bounds the memory: origins come from devices.
    static let mostOrigins = 1024

    private let modern: HTTP2Transport
    private let plain: any PushBatchTransport
    private let clock: any HubClock
    /// The origins without HTTP/2, with the time until which this is assumed.
    private let originsWithoutHTTP2 = Mutex<[PushOrigin: Timestamp]>([:])

    /// - Parameter plain: Sends over HTTP/1.1, also without TLS.
    package init(_ modern: HTTP2Transport, plain: any PushBatchTransport, clock: any HubClock) {
        (self.modern, self.plain, self.clock) = (modern, plain, clock)
    }

    package var isSequential: Bool { false }

    package func destination(of origin: PushOrigin) -> String {
        lacksHTTP2(origin) ? plain.destination(of: origin) : modern.destination(of: origin)
    }

    package func send(_ batch: PushBatch) async -> [PushOutcome] {
        let origin = batch.headers.origin
        if lacksHTTP2(origin) { return await plain.send(batch) }
        var outcomes = await modern.send(batch)
        let unsent = outcomes.indices.filter { outcomes[$0].isWithoutHTTP2 }
        if unsent.isEmpty { return outcomes }
        note(origin)
        for (index, outcome) in zip(unsent, await plain.send(batch.subset(unsent, headers: batch.headers))) { outcomes[index] = outcome }
        return outcomes
    }

    package func shutdown() async {
        await modern.shutdown()
        await plain.shutdown()
    }

    private func lacksHTTP2(_ origin: PushOrigin) -> Bool {
        origin.scheme == "http" || originsWithoutHTTP2.withLock { $0[origin].map { clock.now < $0 } ?? false }
    }

    private func note(_ origin: PushOrigin) {
        let now = clock.now
        originsWithoutHTTP2.withLock { origins in
            if origins.count >= Self.mostOrigins { origins = origins.filter { now < $0.value } }
            if origins.count < Self.mostOrigins { origins[origin] = now + Self.memory }
        }
    }
}

extension PushOutcome {
    fileprivate var isWithoutHTTP2: Bool { if case .notSent(.withoutHTTP2) = self { true } else { false } }
}

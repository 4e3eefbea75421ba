import HTTPTypes
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

extension PushBatchTransport {
    /// Does nothing; for transports without connections.
    package func shutdown() async {}

    package func destination(of origin: PushOrigin) -> String { origin.authority }

    package var isSequential: Bool { false }
}

/// Sends the requests of a batch one after the other, so that traces are reproducible.
package struct SequentialTransport: PushBatchTransport {
    private let base: any PushTransport

    package init(_ base: any PushTransport) {
        self.base = base
    }

    package var isSequential: Bool { true }

    package func destination(of origin: PushOrigin) -> String { base.destination(of: origin.authority) }

    package func send(_ batch: PushBatch) async -> [PushOutcome] { await base.send(batch, width: 1) }
}

/// Sends the requests of a batch as concurrent single exchanges, for services that speak HTTP/1.1.
package struct ConcurrentTransport: PushBatchTransport {
    private let base: any PushTransport
    private let width: Int

    /// - Parameter width: Maximum number of concurrent requests per batch.
    package init(_ base: any PushTransport, width: Int = 32) {
        (self.base, self.width) = (base, width)
    }

    package func destination(of origin: PushOrigin) -> String { base.destination(of: origin.authority) }

    package func send(_ batch: PushBatch) async -> [PushOutcome] { await base.send(batch, width: width) }
}

extension PushTransport {
    fileprivate func send(_ batch: PushBatch, width: Int) async -> [PushOutcome] {
        let silence = Silence(width: width)
        return await concurrently(batch.count, width: width) { index in
            if Task.isCancelled { return .notSent(.cancelled) }
            if let why = silence.why { return .notSent(.unreachable(why, retryAfter: nil)) }
            let outcome = await outcome(of: batch.request(index), body: batch.body(index))
            silence.note(isAnswered: outcome.isAnswered)
            return outcome
        }
    }

    /// Sends a request. If it certainly was not processed, it is sent once more, at once.
    private func outcome(of request: HTTPRequest, body: [UInt8]) async -> PushOutcome {
        do throws(TransportError) {
            let response: PushResponse
            do throws(TransportError) {
                response = try await exchange(request, body: body)
            } catch {
                guard case .notSent = error else { throw error }
                response = try await exchange(request, body: body)
            }
            return .answered(PushAnswer(response))
        } catch {
            return switch error {
            case .notSent(let why): .notSent(.unreachable(why, retryAfter: nil))
            case .forbidden(let why): .notSent(.forbidden(why))
            case .unknown(let why): .unknown(.other(why))
            }
        }
    }
}

extension PushOutcome {
    /// Whether the service responded, or was not to be contacted at all.
    fileprivate var isAnswered: Bool {
        switch self {
        case .unknown, .notSent(.unreachable): false
        case .answered, .notSent: true
        }
    }
}

extension PushBatch {
    /// One of the requests as a separate message.
    func request(_ index: Int) -> HTTPRequest {
        var fields = HTTPFields()
        if let authorization = headers.authorization { fields[.authorization] = authorization.reveal() }
        if let id = id(index) { fields[.apnsID] = id.description }
        for field in headers.fields {
            if let name = HTTPField.Name(field.name) { fields[name] = field.value }
        }
        return HTTPRequest(
            method: .post, scheme: headers.origin.scheme, authority: headers.origin.authority, path: path(index), headerFields: fields)
    }
}

import HTTPTypes
import PushCore

/// Takes many pushes at once: connections of HTTP/2, or one exchange after the other with a service in this process.
package protocol PushBatchTransport: Sendable {
    /// One outcome for each request, in their order. Suspends while too much waits already. When the task is cancelled, what waits is
    /// not sent, and what went out is answered for.
    func send(_ batch: PushBatch) async -> [PushOutcome]

    /// Where requests of this origin really go: for whoever is told that nobody answers there.
    func destination(of origin: PushOrigin) -> String

    /// Whether requests go out one after the other, in the order in which they are given: then each may wait for what became of the
    /// one before.
    var isSequential: Bool { get }

    /// What waits is not sent; what is under way has a while to be answered. Then connections are closed.
    func shutdown() async
}

extension PushBatchTransport {
    /// Nothing where there are no connections.
    package func shutdown() async {}

    package func destination(of origin: PushOrigin) -> String { origin.authority }

    package var isSequential: Bool { false }
}

/// Sends the requests of a batch one after the other, so that a trace repeats itself.
package struct SequentialTransport: PushBatchTransport {
    private let base: any PushTransport

    package init(_ base: any PushTransport) {
        self.base = base
    }

    package var isSequential: Bool { true }

    package func destination(of origin: PushOrigin) -> String { base.destination(of: origin.authority) }

    package func send(_ batch: PushBatch) async -> [PushOutcome] { await base.send(batch, width: 1) }
}

/// Sends several requests of a batch at a time, each as an exchange of its own: for services that speak HTTP/1.1.
package struct ConcurrentTransport: PushBatchTransport {
    private let base: any PushTransport
    private let width: Int

    /// - Parameter width: requests of a batch under way at a time.
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

    /// A request that certainly was not processed is sent once more, at once.
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
    /// Whether somebody was there, or was not to be asked.
    fileprivate var isAnswered: Bool {
        switch self {
        case .unknown, .notSent(.unreachable): false
        case .answered, .notSent: true
        }
    }
}

extension PushBatch {
    /// One of the requests as a message of its own.
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

import HTTPTypes
import PushModel

extension PushTransport {
    /// Sends the requests of a batch as single exchanges.
    ///
    /// - Parameter width: maximum number of concurrent requests.
    func send(_ batch: PushBatch, width: Int) async -> [PushOutcome] {
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

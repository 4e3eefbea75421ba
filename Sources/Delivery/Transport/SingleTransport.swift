package import HTTPTypes
import PushModel

/// Sends single requests through a batch transport, for callers that examine every exchange.
///
/// All requests must be POST, as pushes are. Await `shutdown()` as for the base transport.
package struct SingleTransport: PushTransport {
    private let base: any PushBatchTransport

    package init(_ base: any PushBatchTransport) {
        self.base = base
    }

    package func destination(of authority: String) -> String { base.destination(of: PushOrigin(authority: authority)) }

    package func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        guard request.method == .post, let batch = PushBatch(request, body: body) else {
            throw .notSent("a \(request.method.rawValue) request without a host or a path is not a push")
        }
        switch await base.send(batch).first {
        case .answered(let answer): return answer.response
        case .unknown(let failure): throw .unknown(failure.text)
        case .notSent(.forbidden(let why)): throw .forbidden(why)
        case .notSent(let failure): throw .notSent(failure.text)
        case nil: throw .notSent("the request has no outcome")
        }
    }

    package func shutdown() async { await base.shutdown() }
}

extension PushBatch {
    /// A batch of a single request; `nil` if the request has no authority or path.
    fileprivate init?(_ request: HTTPRequest, body: [UInt8]) {
        guard let authority = request.authority, let path = request.path else { return nil }
        let id = request.headerFields[.apnsID].flatMap { PushID($0) }
        var authorization: Secret?
        var fields: [PushHeader] = []
        for field in request.headerFields {
            switch field.name {
            case .authorization: authorization = Secret(field.value)
            case .apnsID where id != nil: break
            default: fields.append(PushHeader(field.name.canonicalName, field.value))
            }
        }
        self.init(
            headers: HeaderTemplate(origin: PushOrigin(authority: authority), authorization: authorization, fields: fields), body: body,
            pathSize: path.utf8.count)
        append(id: id) { $0.append(contentsOf: path.utf8) }
    }
}

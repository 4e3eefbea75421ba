import HTTPTypes
import PushCore

/// Sends requests one at a time through a transport that takes many, for who looks at every single exchange.
///
/// All requests are POST, as pushes are. `shutdown()` must be awaited as that of the transport below.
package struct SingleTransport: PushTransport {
    private let base: any PushBatchTransport

    package init(_ base: any PushBatchTransport) {
        self.base = base
    }

    package func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        guard request.method == .post, let batch = PushBatch(request, body: body) else {
            throw .notSent("a \(request.method.rawValue) request without a host or a path is no push")
        }
        switch await base.send(batch).first {
        case .answered(let answer): return answer.response
        case .unknown(let failure): throw .unknown(failure.text)
        case .notSent(.forbidden(let why)): throw .forbidden(why)
        case .notSent(let failure): throw .notSent(failure.text)
        case nil: throw .notSent("nothing became of the request")
        }
    }

    package func shutdown() async { await base.shutdown() }
}

extension PushBatch {
    /// Of a single request; nil for one that does not say where it goes.
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

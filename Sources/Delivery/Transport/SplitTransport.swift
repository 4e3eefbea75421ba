package import HTTPTypes
import PushModel

/// Routes requests over two transports: those to addresses named in the settings go directly, all others over the common one.
package struct SplitTransport: PushTransport {
    private let common: any PushTransport
    private let direct: any PushTransport
    private let isDirect: @Sendable (WebAddress) -> Bool

    /// - Parameter isDirect: Called with scheme and authority of a request.
    package init(_ common: any PushTransport, direct: any PushTransport, isDirect: @escaping @Sendable (WebAddress) -> Bool) {
        (self.common, self.direct, self.isDirect) = (common, direct, isDirect)
    }

    package func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        try await way(request.scheme, request.authority).exchange(request, body: body)
    }

    package func destination(of authority: String) -> String { way("https", authority).destination(of: authority) }

    private func way(_ scheme: String?, _ authority: String?) -> any PushTransport {
        guard let scheme, let authority, let address = WebAddress("\(scheme)://\(authority)") else { return common }
        return isDirect(address) ? direct : common
    }
}

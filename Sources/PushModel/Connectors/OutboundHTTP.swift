/// Sends HTTP requests of plugins to other servers, within the hosts granted to the plugin.
///
/// Errors: `http.method`, `http.invalid_url` and `http.invalid_header` for an invalid request, which is not sent; `http.denied` for a host
/// that is not granted; `http.private_address` for a host that resolves to this machine or to an address that is not public;
/// `http.unreachable`; `http.tls`; `http.timeout`; `http.too_large` for a request or response body; `http.redirects` for a redirect that is
/// not followed; `cancelled` if the caller's task was. Messages name host, port and path, but never a query, a header's value or a body.
package protocol OutboundHTTP: Sendable {
    /// Returns the response, whatever its status.
    /// - Parameter reach: checked again for every redirect.
    func send(_ request: OutboundRequest, within reach: OutboundAllowlist) async throws(PushError) -> OutboundResponse
}

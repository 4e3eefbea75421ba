package import HTTPTypes

/// A simulated server: a push service, or a token endpoint.
///
/// A service answers every request, even a malformed one, with the status, headers and body of the real service. It never throws: what the
/// real service would reject is a response.
package protocol SimulatedService: Sendable {
    /// The host names of this service, in lower case and without a port.
    var hosts: Set<String> { get }

    /// Whether requests to this host are for this service.
    func answers(for host: String) -> Bool

    /// Answers one request.
    ///
    /// - Parameters:
    ///   - request: Method, path with query, authority and header fields (RFC 9113 section 8.3.1).
    ///   - body: The whole body, without any transfer coding.
    func handle(_ request: HTTPRequest, body: [UInt8]) async -> (response: HTTPResponse, body: [UInt8])
}

extension SimulatedService {
    package func answers(for host: String) -> Bool { hosts.contains(host) }
}

extension HTTPRequest {
    /// The host of a request, in lower case and without a port; empty if there is none.
    var host: String { String((authority ?? "").lowercased().prefix { $0 != ":" }) }
}

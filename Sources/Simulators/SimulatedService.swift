import HTTPTypes

/// The far side of a wire: a push service, or an endpoint that gives out its credentials.
///
/// A service answers every request, also a malformed one, with the status, headers and body that the real one sends.
/// It never throws: what the real service would refuse comes back as a response.
package protocol SimulatedService: Sendable {
    /// The host names that this service answers for, lower case and without a port.
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
    /// The host that a request is for, in lower case and without a port; empty when it names none.
    var host: String { String((authority ?? "").lowercased().prefix { $0 != ":" }) }
}

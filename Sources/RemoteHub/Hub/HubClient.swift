import HubWire
import NIOHTTP1
import PushModel

/// Requests to one hub on another machine, through Azure's interface and a PushHost's JSON API.
struct HubClient: Sendable {
    let address: HubAddress
    let client: RemoteClient

    // MARK: - Azure's interface

    /// - Parameters:
    ///   - path: The encoded path below the hub.
    ///   - query: Must begin with `&`.
    func ask(
        _ method: HTTPMethod, _ path: String, _ query: String = "", _ headers: HTTPHeaders = [:], _ body: [UInt8] = [],
        isRepeatable: Bool = true, isSingular: Bool = false
    ) async throws(PushError) -> RemoteAnswer {
        var request = RemoteRequest(
            method, address.url(path, query), headers: headers, body: body, isRepeatable: isRepeatable, isSingular: isSingular)
        request.headers.add(name: "Accept", value: "application/problem+json, application/atom+xml, application/json, */*;q=0.1")
        do throws(PushError) {
            return try await client.answer(request) { request in
                request.headers.replaceOrAdd(name: "Authorization", value: address.token(now: client.clock.now))
            }
        } catch {
            throw explained(error, method, path, isOfOne: headers.contains(name: "If-Match"))
        }
    }

    // MARK: - The JSON API

    /// - Parameter path: The path below the hub in the JSON API.
    func json(
        _ path: String, _ query: String = "", by method: HTTPMethod = .GET, _ headers: HTTPHeaders = [:], body: JSON? = nil,
        isSingular: Bool = false
    ) async throws(PushError) -> JSON {
        let hub = PercentEncoding.encode(address.hub)
        var request = RemoteRequest(
            method, "\(address.base)/api/v1/hubs/\(hub)/\(path)\(query)",
            headers: ["Accept": "application/json, application/problem+json"], isSingular: isSingular)
        request.headers.add(contentsOf: headers)
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = body.serialized()
        }
        let answer: RemoteAnswer
        do throws(PushError) {
            answer = try await client.answer(request) { request in
                request.headers.replaceOrAdd(name: "Authorization", value: address.serverToken(now: client.clock.now))
            }
        } catch {
            throw explained(error, method, path)
        }
        do {
            return try JSON(parsing: answer.body)
        } catch {
            throw unreadable("is not JSON")
        }
    }

    // MARK: - Errors

    /// Adds hints about the hub's name and key to an error.
    /// - Parameter isOfOne: Whether the request refers to an object that must exist.
    private func explained(_ error: PushError, _ method: HTTPMethod, _ path: String, isOfOne: Bool = false) -> PushError {
        switch error.code {
        case "sas.signature", "target.key":
            var error = error
            error.hint = "\(error.hint.map { "\($0); " } ?? "")is \"\(address.hub)\" the right hub?"
            return error
        // The request does not refer to an object that could be missing, so the hub itself is missing.
        case "hub.not_found" where !isOfOne && (method == .POST || method == .PUT || path.hasSuffix("registrations")):
            return Self.missing(address.hub, at: address.host, error)
        default: return error
        }
    }

    /// - Parameter others: The existing hubs, if known.
    static func missing(_ hub: String, at host: String, others: [String] = [], _ error: PushError? = nil) -> PushError {
        let near = nearest(hub, in: others).map { "; did you mean \"\($0)\"?" } ?? ""
        return PushError(
            "target.hub", "\(host) has no hub \"\(hub)\"\(near)",
            hint: others.isEmpty
                ? "check its name: --hub, or EntityPath in the connection string" : "existing hubs: \(others.joined(separator: ", "))",
            status: 404, trackingID: error?.trackingID)
    }

    /// - Parameter isSent: Whether the request has been executed nonetheless.
    func unreadable(_ what: String, isSent: Bool = false) -> PushError {
        PushError(
            "target.answer", "the response of \(address.host) \(what)",
            hint: isSent
                ? "it was accepted: check before sending it again" : "is it a notification hub? Check the connection string",
            details: isSent ? ["may_be_done": true] : [:])
    }
}

import HTTPTypes
import PushModel

/// Requests access tokens from an OAuth 2.0 token endpoint (RFC 6749, sections 4.4 and 5).
struct AccessTokenGrant: Sendable {
    /// How long before its expiry a token is renewed.
    static let renewalMargin: Duration = .seconds(300)

    let service: String
    let endpoint: WebAddress
    let transport: any PushTransport
    let clock: any HubClock

    func credential(form: KeyValuePairs<String, String>) async throws(DeliveryFailure) -> Credential {
        let body = FormBody.encode(form)
        var fields = HTTPFields()
        fields[.contentType] = FormBody.contentType
        fields[.contentLength] = String(body.count)
        let request = HTTPRequest(
            method: .post, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.path,
            headerFields: fields)
        let response = try await answer(to: request, body: body)
        guard response.status.code == 200 else { throw refusal(response) }
        return try credential(from: response)
    }

    /// A lost response is transient here, not unknown: the notification itself has not been sent.
    private func answer(to request: HTTPRequest, body: [UInt8]) async throws(DeliveryFailure) -> PushResponse {
        do {
            return try await transport.attempt(request, body: body)
        } catch {
            guard case .unknown(let why) = error.verdict else { throw error }
            throw DeliveryFailure(
                verdict: .transient(.unreachable(transport.destination(of: endpoint.authority), why: why), retryAfter: nil))
        }
    }

    private func credential(from response: PushResponse) throws(DeliveryFailure) -> Credential {
        let json = JSON(answer: response.body)
        guard let token = json?["access_token"]?.string, !token.isEmpty,
            token.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw DeliveryFailure(
                verdict: .transient(
                    Rejection(
                        status: response.status.code, reason: "MalformedTokenAnswer",
                        explanation: "\(endpoint.host) answered without an access token; try again later",
                        outcome: .pnsServerError), retryAfter: nil))
        }
        let now = clock.now
        let lifetime = Duration.seconds(max(0, min(json?["expires_in"]?.int ?? 3600, 30 * 86_400)))
        // A token that lives for less than ten minutes is renewed at half of its lifetime.
        let renewal = max(lifetime - Self.renewalMargin, lifetime / 2)
        return Credential(token: Secret(token), issued: now, renewal: now + renewal, expires: now + lifetime)
    }

    private func refusal(_ response: PushResponse) -> DeliveryFailure {
        let status = response.status.code
        let json = JSON(answer: response.body)
        let error = json?["error"]?.string?.excerpt ?? "HTTP \(status)"
        let description = json?["error_description"]?.string.map { " (\($0.excerpt))" } ?? ""
        if status == 429 || status >= 500 {
            let rejection = Rejection(
                status: status, reason: error,
                explanation: "\(endpoint.host) currently issues no access tokens\(description); try again later",
                outcome: .pnsUnavailable)
            return DeliveryFailure(
                verdict: .transient(rejection, retryAfter: response.retryAfter(now: clock.now)))
        }
        let rejection = Rejection(
            status: status, reason: error,
            explanation: "\(endpoint.host) rejected the \(service) credentials\(description); check them in the settings",
            outcome: .invalidCredentials)
        return DeliveryFailure(verdict: .rejected(rejection))
    }
}

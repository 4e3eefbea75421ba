import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes for devices whose handles the push services reported as invalid (hub interface: "Feedback").
struct FeedbackRoutes: Sendable {
    /// Number of records per page.
    static let pageSize = 1000

    let access: HubAccess

    /// Returns an address of this server as plain text, valid for a day, where Azure's clients expect a storage container.
    func container(of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let name = hub
        let hub = access.namespace.hub(name)
        let rule = try access.authorize(request, .manage, hub)
        guard let hub else { throw HubAccess.hubNotFound }
        let query = FeedbackLink.query(hub: hub.record.name, rule: rule, expiration: request.now + FeedbackLink.lifetime)
        let address = "\(request.server.base)/feedback/\(hub.record.name)?\(query)"
        return WebAnswer(.ok, "text/plain; charset=utf-8", Array(address.utf8))
    }

    /// Returns one `PnsFeedback` per line, latest notification first. The header `Link` names the next page, if any.
    func records(of name: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        // Without a signed address, the response does not reveal whether the hub exists.
        let hub = access.namespace.hub(name)
        let rules = access.namespace.rules + (hub?.record.description.rules ?? [])
        try FeedbackLink.verify(request.query, hub: name, rules: rules, now: request.now)
        guard let hub else { throw HubAccess.hubNotFound }
        var position: FeedbackPosition?
        if let token = request.query["after"] {
            position = FeedbackPosition(token: token)
            guard position != nil else {
                throw PushError(
                    "feedback.after", "invalid feedback position \"\(token)\"", hint: "use the Link of the previous page",
                    status: 400)
            }
        }
        let devices = try await hub.service.feedback(after: position?.position, limit: Self.pageSize)
        var writer = XMLWriter(capacity: 512 * devices.count)
        for device in devices { RemovedDeviceXML(device).write(into: &writer) }
        var answer = WebAnswer(.ok, "text/plain; charset=utf-8", writer.bytes)
        if devices.count == Self.pageSize, let last = devices.last {
            let signed = ["se", "sig"].map { "\($0)=\(PercentEncoding.encode(request.query[$0] ?? ""))" }.joined(separator: "&")
            answer.fields[.link] =
                "<\(request.server.base)\(request.path)?\(signed)&after=\(FeedbackPosition(last.position).token)>; rel=\"next\""
        }
        return answer
    }
}

extension HTTPField.Name {
    fileprivate static let link = HTTPField.Name("Link") ?? .server
}

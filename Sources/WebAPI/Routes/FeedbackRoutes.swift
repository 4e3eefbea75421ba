import HTTPTypes
import HubWire
import PushCore

/// Which devices the push services called dead (hub interface: "Feedback").
struct FeedbackRoutes: Sendable {
    /// Records in one answer.
    static let pageSize = 1000

    let access: HubAccess

    /// An address of this server, good for a day, as plain text: where Azure's clients expect a storage container.
    func container(of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let name = hub
        let hub = access.namespace.hub(name)
        let rule = try access.authorize(request, .manage, hub)
        guard let hub else { throw HubAccess.noService }
        let query = FeedbackLink.query(hub: hub.record.name, rule: rule, expiration: request.now + FeedbackLink.lifetime)
        let address = "\(request.base)/feedback/\(hub.record.name)?\(query)"
        return WebAnswer(.ok, "text/plain; charset=utf-8", Array(address.utf8))
    }

    /// One `PnsFeedback` a line, of the latest notification first. Where more follow, the header `Link` names the next page.
    func records(of name: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        // Whoever has no address that a hub gave learns nothing of which hubs there are.
        let hub = access.namespace.hub(name)
        let rules = access.namespace.rules + (hub?.record.description.rules ?? [])
        try FeedbackLink.verify(request.query, hub: name, rules: rules, now: request.now)
        guard let hub else { throw HubAccess.noService }
        var position: DeadDevice.Position?
        if let token = request.query["after"] {
            position = DeadDevice.Position(token: token)
            guard position != nil else {
                throw PushError(
                    "feedback.after", "\"\(token)\" is no place in the feedback", hint: "follow the Link of the page before",
                    status: 400)
            }
        }
        let devices = try await hub.service.feedback(after: position, limit: Self.pageSize)
        var writer = XMLWriter(capacity: 512 * devices.count)
        for device in devices { device.write(into: &writer) }
        var answer = WebAnswer(.ok, "text/plain; charset=utf-8", writer.bytes)
        if devices.count == Self.pageSize, let last = devices.last {
            let signed = ["se", "sig"].map { "\($0)=\(PercentEncoding.encode(request.query[$0] ?? ""))" }.joined(separator: "&")
            answer.fields[.link] = "<\(request.base)\(request.path)?\(signed)&after=\(last.position.token)>; rel=\"next\""
        }
        return answer
    }
}

extension HTTPField.Name {
    fileprivate static let link = HTTPField.Name("Link") ?? .server
}

import HubWire
import NIOHTTP1
import PushModel

/// Counts the devices that a send to a hub on another machine would reach, before it is made.
struct AudienceCounter: Sendable {
    let hub: HubClient
    let registrations: RemoteRegistrations
    let isPushHost: Bool

    /// Maximum number of registration pages that are counted.
    private static let maximumCountedPages = 20

    /// The audience size; nil if the target cannot report it. Azure lists registrations by a single tag and does not evaluate expressions.
    func size(for request: NotificationRequest) async throws(PushError) -> RemoteNotificationHub.AudienceSize? {
        if !request.audience.handles.isEmpty { return RemoteNotificationHub.AudienceSize(devices: request.audience.handles.count) }
        do throws(PushError) {
            return isPushHost ? try await preview(request) : try await count(request)
        } catch  where [401, 403].contains(error.status) {
            // The key may send but not read.
            return nil
        }
    }

    private func preview(_ request: NotificationRequest) async throws(PushError) -> RemoteNotificationHub.AudienceSize {
        var bodies: [JSONObject] = []
        switch request.content {
        case .template(let properties):
            bodies.append(JSONObject([("message", .object(JSONObject(properties.map { ($0.key, JSON.string($0.value)) })))]))
        case .native(let payloads):
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key }) {
                let text = JSON.string(String(decoding: payload.body, as: UTF8.self))
                let native: JSON = ["platform": .string(platform.shortName), "payload": text]
                bodies.append(JSONObject([("native", native)]))
            }
        }
        var size = RemoteNotificationHub.AudienceSize(devices: 0)
        for var body in bodies {
            if let words = request.audience.expression { body["tagExpression"] = .string("\(words)") }
            let preview = try await hub.json("render", by: .POST, body: .object(body))
            size.devices += (preview["groups"]?.array ?? []).reduce(0) { $0 + ($1["devices"]?.int ?? 0) }
            if preview["furtherGroups"]?.int ?? 0 > 0 { size.isAtLeast = true }
        }
        return size
    }

    private func count(_ request: NotificationRequest) async throws(PushError) -> RemoteNotificationHub.AudienceSize? {
        let filter: RegistrationFilter
        switch request.audience {
        case .everyone: filter = .all
        case .expression(.tag(let tag)): filter = .tag(tag)
        case .expression, .device, .devices: return nil
        }
        var size = RemoteNotificationHub.AudienceSize(devices: 0)
        var page = Page()
        for _ in 0..<Self.maximumCountedPages {
            let found = try await registrations.registrations(filter, page: page)
            size.devices += found.registrations.count { request.reaches($0) }
            page.continuation = found.continuation
            guard page.continuation != nil else { return size }
        }
        size.isAtLeast = true
        return size
    }
}

extension NotificationRequest {
    fileprivate func reaches(_ registration: Registration) -> Bool {
        switch content {
        case .template: registration.template != nil
        case .native(let payloads): registration.template == nil && payloads[registration.platform] != nil
        }
    }
}

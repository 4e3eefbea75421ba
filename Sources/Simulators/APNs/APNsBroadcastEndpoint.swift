import HTTPTypes
import Synchronization

/// Broadcasts to live activities (Apple, "Sending broadcast push notification requests to APNs"), and the management of their channels.
/// Apple documents the reasons; where it leaves the status open, it is 400.
struct APNsBroadcastEndpoint {
    let simulator: APNsSimulator

    private enum Route {
        case broadcast
        case channels
        case allChannels
    }

    /// The maximum payload size of a broadcast, in bytes.
    private static let payloadLimit = 5120

    /// Returns `nil` if the path is not one of a broadcast or a channel.
    func respond(to request: HTTPRequest, body: [UInt8], sender: inout APNsSender) -> Answer? {
        guard let (route, bundleID) = Self.route(request) else { return nil }
        let isNamed = request.headerFields.first("apns-request-id").map { !$0.isEmpty } ?? false
        let id = isNamed ? request.headerFields.first("apns-request-id") ?? "" : simulator.random.uuid()
        var fields = HTTPFields()
        fields.add("apns-request-id", id)
        do throws(APNsRefusal) {
            try APNsRequest.checkFields(request.headerFields)
            let settings = simulator.state.withLock { $0.settings }
            if route == .broadcast, request.method != .post { throw APNsRefusal(.methodNotAllowed) }
            if route == .allChannels, request.method != .get { throw APNsRefusal(.methodNotAllowed) }
            let allowance = try simulator.authenticate(request, settings: settings, sender: &sender)
            guard allowance.includes(topic: bundleID, bundleID: bundleID) else { throw APNsRefusal(.topicMismatch) }
            guard settings.broadcasting?.contains(bundleID) ?? true else { throw APNsRefusal(.featureNotEnabled) }
            switch route {
            case .broadcast:
                try broadcast(request, to: bundleID, id: id, body: body)
                if settings.environment == .development { fields.add("apns-unique-id", simulator.random.uuid()) }
                return (HTTPResponse(status: .ok, headerFields: fields), [])
            case .channels: return try manage(request, of: bundleID, body: body, settings: settings, fields: fields)
            case .allChannels:
                let channels = simulator.state.withLock { $0.channels[bundleID] ?? [] }
                return answer(200, json: JSONValue(members: ["channels": .array(channels.map { .string($0.id) })]), fields: fields)
            }
        } catch {
            return simulator.refusal(error, fields: fields)
        }
    }

    /// Push hosts accept broadcasts, and separate hosts the management of channels; names of this machine accept both.
    private static func route(_ request: HTTPRequest) -> (Route, bundleID: String)? {
        let isManagement = request.host.hasPrefix("api-manage-broadcast.")
        let isPush = !isManagement && request.host.hasSuffix(".push.apple.com")
        let parts = (request.path ?? "").split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { String($0) }
        if parts.count == 4, parts[..<3] == ["4", "broadcasts", "apps"], !isManagement { return (.broadcast, parts[3]) }
        guard parts.count == 4, parts[0] == "1", parts[1] == "apps", !isPush else { return nil }
        switch parts[3] {
        case "channels": return (.channels, parts[2])
        case "all-channels": return (.allChannels, parts[2])
        default: return nil
        }
    }

    private func channel(_ request: HTTPRequest, of bundleID: String) throws(APNsRefusal) -> APNsChannel {
        guard let id = request.headerFields.first("apns-channel-id"), !id.isEmpty else { throw APNsRefusal(.missingChannelID) }
        guard APNsChannel.isID(id) else { throw APNsRefusal(.badChannelID) }
        guard let channel = simulator.state.withLock({ $0.channels[bundleID]?.first { $0.id == id } }) else {
            throw APNsRefusal(.channelNotRegistered)
        }
        return channel
    }

    private func broadcast(_ request: HTTPRequest, to bundleID: String, id: String, body: [UInt8]) throws(APNsRefusal) {
        let fields = request.headerFields
        let channel = try channel(request, of: bundleID)
        guard let type = fields.first("apns-push-type") else { throw APNsRefusal(.missingPushType) }
        guard type == APNsPushType.liveactivity.rawValue else { throw APNsRefusal(.invalidPushType) }
        let priority = fields.first("apns-priority")
        if let priority, !APNsPushType.liveactivity.priorities.contains(priority) {
            throw APNsRefusal(.badPriority)
        }
        // The header is required, and must be 0 for a channel without storage.
        guard let expiration = try APNsRequest.expiration(fields), channel.storesNewest || expiration == 0 else {
            throw APNsRefusal(.badExpirationDate)
        }
        guard !body.isEmpty else { throw APNsRefusal(.payloadEmpty) }
        guard body.count <= Self.payloadLimit else { throw APNsRefusal(.payloadTooLarge) }
        guard let payload = JSONValue(body), payload.members?.isEmpty == false else { throw APNsRefusal(.payloadEmpty) }
        if simulator.lab.isOutOfMemory { throw .labFull }
        let now = simulator.clock.now()
        try simulator.checkFaults(for: channel.id, now: now)
        let rules = APNsDeliveryRules(request: APNsRequest(broadcastTo: bundleID, expiration: expiration, priority: priority))
        let environment = simulator.state.withLock { $0.settings.environment }
        for phone in simulator.lab.subscribers(channel: channel.id, app: bundleID, environment: environment) {
            simulator.lab.accept(rules.push(id: id, payload: payload, body: body, strings: [:], now: now), for: phone)
        }
    }

    // MARK: - Channels

    private func manage(
        _ request: HTTPRequest, of bundleID: String, body: [UInt8], settings: APNsSimulatorSettings, fields: HTTPFields
    ) throws(APNsRefusal) -> Answer {
        switch request.method {
        case .post:
            let id = try makeChannel(of: bundleID, body: body, settings: settings)
            var fields = fields
            fields.add("apns-channel-id", id)
            return (HTTPResponse(status: .created, headerFields: fields), [])
        case .get:
            let channel = try channel(request, of: bundleID)
            let json = JSONValue(members: [
                "message-storage-policy": .number(channel.storesNewest ? "1" : "0"), "push-type": .string("LiveActivity"),
            ])
            return answer(200, json: json, fields: fields)
        case .delete:
            let channel = try channel(request, of: bundleID)
            simulator.state.withLock { $0.channels[bundleID]?.removeAll { $0.id == channel.id } }
            return (HTTPResponse(status: .noContent, headerFields: fields), [])
        default: throw APNsRefusal(.methodNotAllowed)
        }
    }

    private func makeChannel(
        of bundleID: String, body: [UInt8], settings: APNsSimulatorSettings
    ) throws(APNsRefusal) -> String {
        guard let order = JSONValue(body), order.members != nil else { throw APNsRefusal(.badRequestPayload) }
        guard order["push-type"]?.string != nil else { throw APNsRefusal(.missingPushType) }
        guard order["push-type"]?.string == "LiveActivity" else { throw APNsRefusal(.invalidPushType) }
        guard let policy = order["message-storage-policy"]?.integer, policy == 0 || policy == 1 else {
            throw APNsRefusal(.badRequestParameters)
        }
        let channel = APNsChannel(id: APNsChannel.id(simulator.random.bytes(16)), storesNewest: policy == 1)
        let isMade = simulator.state.withLock { state in
            guard state.channels[bundleID, default: []].count < settings.largestChannelCount else { return false }
            state.channels[bundleID, default: []].append(channel)
            return true
        }
        guard isMade else { throw APNsRefusal(.cannotCreateChannel) }
        return channel.id
    }
}

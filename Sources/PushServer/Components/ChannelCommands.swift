import Delivery
import PushHub
import PushModel

/// Manages the APNs broadcast channels of a server's hubs, for `pushhost apns channels`.
struct ChannelCommands: Sendable {
    let connectors: HubConnectors
    let namespace: Namespace
    let audit: OwnerAudit

    /// Handles a request: `{"hub", "action": "create" | "show" | "list" | "delete", "channel"?, "keep"?}`.
    func run(_ order: JSON) async throws(PushError) -> JSON {
        let name = order["hub"]?.string ?? ""
        guard let hub = namespace.hub(name)?.record else {
            throw PushError("hub.not_found", "unknown hub \"\(name)\"", hint: "check its name", status: 404)
        }
        let channels = try await connectors.channels(of: hub)
        let channel = order["channel"]?.string ?? ""
        switch order["action"]?.string {
        case "create":
            let policy: APNsChannels.StoragePolicy = order["keep"]?.string == "newest" ? .newest : .nothing
            let made = try await channels.create(policy)
            await audit.noteChannel(.channelCreate, made, of: hub.name)
            return ["channel": .string(made), "keep": .string(policy.word)]
        case "show":
            let policy = try await channels.policy(of: channel)
            return ["channel": .string(channel), "keep": policy.map { .string($0.word) } ?? .null]
        case "list": return ["items": .array(try await channels.all().map { .string($0) })]
        case "delete":
            try await channels.delete(channel)
            await audit.noteChannel(.channelDelete, channel, of: hub.name)
            return ["channel": .string(channel)]
        default:
            throw PushError(
                "request.body", "the body has no valid action", hint: "use create, show, list or delete", status: 400)
        }
    }
}

extension APNsChannels.StoragePolicy {
    var word: String {
        switch self {
        case .nothing: "nothing"
        case .newest: "newest"
        }
    }
}

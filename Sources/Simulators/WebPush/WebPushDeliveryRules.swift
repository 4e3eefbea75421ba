/// The rules by which a Web Push service stores a message for a browser, and by which the browser reads it.
struct WebPushDeliveryRules {
    let request: WebPushRequest

    /// Converts the accepted message to a push for the browser. A message that it cannot decrypt is lost there.
    ///
    /// - Parameters:
    ///   - subscription: `nil` if the browser's keys are unknown.
    ///   - now: Milliseconds since 1970.
    func push(id: String, body: [UInt8], for subscription: WebPushSubscription?, now: Int64) -> AcceptedPush {
        let storagePolicy = storagePolicy(id: id, now: now)
        var push = AcceptedPush(
            id: id, data: [], storagePolicy: storagePolicy, lowPower: request.isUrgent ? .comes : .waits(storagePolicy),
            topic: request.topic)
        push.isBackground = true
        push.wakesApp = true
        guard !body.isEmpty else { return push }
        guard let subscription else {
            push.fault = "the browser's keys are unknown, because its endpoint was adopted"
            return push
        }
        do {
            push.data = try WebPushDecryption.message(in: body, for: subscription)
        } catch {
            push.fault = "the browser cannot decrypt the message: \(error.reason)"
            return push
        }
        let message = WebPushMessage(push.data)
        push.banner = message.declarative
        push.appBanner = message.byApp
        push.badgeCount = message.badgeCount
        push.isBackground = message.declarative == nil && message.byApp == nil
        push.wakesApp = message.declarative == nil || message.isMutable
        return push
    }

    /// How the service stores it: each message separately, but only one per topic (RFC 8030 section 5.4); none with a TTL of 0.
    private func storagePolicy(id: String, now: Int64) -> AcceptedPush.StoragePolicy? {
        guard request.timeToLive > 0 else { return nil }
        return AcceptedPush.StoragePolicy(
            slot: request.topic.map { "topic:\($0)" } ?? "id:\(id)", capacity: 1, until: now + request.timeToLive * 1000)
    }
}

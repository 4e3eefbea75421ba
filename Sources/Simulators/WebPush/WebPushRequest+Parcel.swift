extension WebPushRequest {
    /// Converts the accepted message to a parcel for the browser. A message that it cannot decrypt is lost there.
    ///
    /// - Parameters:
    ///   - subscription: `nil` if the browser's keys are unknown.
    ///   - now: Milliseconds since 1970.
    func parcel(id: String, body: [UInt8], for subscription: WebPushSubscription?, now: Int64) -> AcceptedPush {
        let keeping = keeping(id: id, now: now)
        var parcel = AcceptedPush(id: id, data: [], keeping: keeping, lowPower: isUrgent ? .comes : .waits(keeping), topic: topic)
        parcel.isBackground = true
        parcel.wakesApp = true
        guard !body.isEmpty else { return parcel }
        guard let subscription else {
            parcel.fault = "the browser's keys are unknown, because its endpoint was adopted"
            return parcel
        }
        do {
            parcel.data = try WebPushDecryption.message(in: body, for: subscription)
        } catch {
            parcel.fault = "the browser cannot decrypt the message: \(error.reason)"
            return parcel
        }
        let message = WebPushMessage(parcel.data)
        parcel.banner = message.declarative
        parcel.appBanner = message.byApp
        parcel.badgeCount = message.badgeCount
        parcel.isBackground = message.declarative == nil && message.byApp == nil
        parcel.wakesApp = message.declarative == nil || message.isMutable
        return parcel
    }

    /// How the service stores it: each message separately, but only one per topic (RFC 8030 section 5.4); none with a TTL of 0.
    private func keeping(id: String, now: Int64) -> AcceptedPush.Keeping? {
        guard timeToLive > 0 else { return nil }
        return AcceptedPush.Keeping(
            slot: topic.map { "topic:\($0)" } ?? "id:\(id)", capacity: 1, until: now + timeToLive * 1000)
    }
}

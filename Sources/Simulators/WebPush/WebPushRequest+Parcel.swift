extension WebPushRequest {
    /// The accepted message in the browser's terms; what the browser cannot decrypt is lost there.
    ///
    /// - Parameters:
    ///   - subscription: Nil when the browser's keys are not known.
    ///   - now: Milliseconds since 1970.
    func parcel(id: String, body: [UInt8], for subscription: WebPushSubscription?, now: Int64) -> Parcel {
        let keeping = keeping(id: id, now: now)
        var parcel = Parcel(id: id, data: [], keeping: keeping, lowPower: isUrgent ? .comes : .waits(keeping), topic: topic)
        parcel.isBackground = true
        parcel.wakesApp = true
        guard !body.isEmpty else { return parcel }
        guard let subscription else {
            parcel.fault = "the browser's keys are not known, for its endpoint was adopted"
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

    /// Every message waits by itself, but a topic has one place only (RFC 8030 section 5.4); with a TTL of 0 none waits.
    private func keeping(id: String, now: Int64) -> Parcel.Keeping? {
        guard timeToLive > 0 else { return nil }
        return Parcel.Keeping(
            slot: topic.map { "topic:\($0)" } ?? "id:\(id)", capacity: 1, until: now + timeToLive * 1000)
    }
}

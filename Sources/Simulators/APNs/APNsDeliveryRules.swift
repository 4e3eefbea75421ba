/// The rules by which APNs stores a notification for a phone and delivers it.
struct APNsDeliveryRules {
    let request: APNsRequest

    /// APNs stores a notification for at most 30 days.
    private static let longestStorage: Int64 = 30 * 24 * 3_600_000

    /// Converts the accepted notification to a push for the phone.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func push(id: String, payload: JSONValue, body: [UInt8], strings: [String: String], now: Int64) -> AcceptedPush {
        let aps = payload["aps"] ?? .object([])
        let banner = APNsAlert(aps: aps, strings: strings).banner
        let isForUser = request.pushType?.isForUser ?? (banner != nil || aps["badge"] != nil || aps["sound"] != nil)
        let isContentAvailable = aps["content-available"]?.integer == 1
        let storagePolicy = storagePolicy(now: now)
        var push = AcceptedPush(
            id: id, data: body, storagePolicy: storagePolicy, lowPower: request.isUrgent ? .comes : .waits(storagePolicy),
            topic: request.collapseID)
        if request.pushType == .liveactivity {
            switch LiveActivityChange.read(aps) {
            case .success(let change): push.activity = change
            case .failure(let fault): push.fault = fault.reason
            }
        }
        push.badgeCount = isForUser ? aps["badge"]?.integer.map { Int($0) } : nil
        if isForUser {
            push.banner = banner
            push.banner?.replacementKey = request.collapseID
            push.wakesApp = isContentAvailable
        } else {
            push.isBackground = true
            push.needsApp = true
            push.wakesApp = true
            push.hasWakingBudget = request.pushType ?? .background == .background
            if request.pushType ?? .background == .background, !isContentAvailable {
                push.fault = "a background push without content-available does not wake the app"
            }
        }
        return push
    }

    /// How APNs stores it for an offline device: one notification per app; none with `apns-expiration: 0` or a past time.
    private func storagePolicy(now: Int64) -> AcceptedPush.StoragePolicy? {
        let latest = now + Self.longestStorage
        let until = request.expiration.map { $0 > latest / 1000 ? latest : $0 * 1000 } ?? latest
        return until > now ? AcceptedPush.StoragePolicy(slot: "app", capacity: 1, until: until) : nil
    }
}

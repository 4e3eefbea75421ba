extension APNsRequest {
    /// APNs stores a notification for at most 30 days.
    private static let longestStorage: Int64 = 30 * 24 * 3_600_000

    /// Converts the accepted notification to a parcel for the phone.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func parcel(id: String, payload: JSONValue, body: [UInt8], strings: [String: String], now: Int64) -> AcceptedPush {
        let aps = payload["aps"] ?? .object([])
        let banner = APNsAlert(aps: aps, strings: strings).banner
        let isForUser = pushType?.isForUser ?? (banner != nil || aps["badge"] != nil || aps["sound"] != nil)
        let isContentAvailable = aps["content-available"]?.integer == 1
        let keeping = keeping(now: now)
        var parcel = AcceptedPush(id: id, data: body, keeping: keeping, lowPower: isUrgent ? .comes : .waits(keeping), topic: collapseID)
        if pushType == .liveactivity {
            switch LiveActivityChange.read(aps) {
            case .success(let change): parcel.activity = change
            case .failure(let fault): parcel.fault = fault.reason
            }
        }
        parcel.badgeCount = isForUser ? aps["badge"]?.integer.map { Int($0) } : nil
        if isForUser {
            parcel.banner = banner
            parcel.banner?.replacementKey = collapseID
            parcel.wakesApp = isContentAvailable
        } else {
            parcel.isBackground = true
            parcel.needsApp = true
            parcel.wakesApp = true
            parcel.hasWakingBudget = pushType ?? .background == .background
            if pushType ?? .background == .background, !isContentAvailable {
                parcel.fault = "a background push without content-available does not wake the app"
            }
        }
        return parcel
    }

    /// How APNs stores it for an offline device: one notification per app; none with `apns-expiration: 0` or a past time.
    private func keeping(now: Int64) -> AcceptedPush.Keeping? {
        let latest = now + Self.longestStorage
        let until = expiration.map { $0 > latest / 1000 ? latest : $0 * 1000 } ?? latest
        return until > now ? AcceptedPush.Keeping(slot: "app", capacity: 1, until: until) : nil
    }
}

extension APNsRequest {
    /// APNs keeps a notification for 30 days at most.
    private static let longestStorage: Int64 = 30 * 24 * 3_600_000

    /// The accepted notification in the phone's terms.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func parcel(id: String, payload: JSONValue, body: [UInt8], strings: [String: String], now: Int64) -> Parcel {
        let aps = payload["aps"] ?? .object([])
        let banner = APNsAlert(aps: aps, strings: strings).banner
        let isForUser = pushType?.isForUser ?? (banner != nil || aps["badge"] != nil || aps["sound"] != nil)
        let isContentAvailable = aps["content-available"]?.integer == 1
        let keeping = keeping(now: now)
        var parcel = Parcel(id: id, data: body, keeping: keeping, lowPower: isUrgent ? .comes : .waits(keeping), topic: collapseID)
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

    /// One notification per app waits for an offline device; `apns-expiration: 0`, or a past date, does not wait.
    private func keeping(now: Int64) -> Parcel.Keeping? {
        let latest = now + Self.longestStorage
        let until = expiration.map { $0 > latest / 1000 ? latest : $0 * 1000 } ?? latest
        return until > now ? Parcel.Keeping(slot: "app", capacity: 1, until: until) : nil
    }
}

/// The rules by which WNS stores a notification for a device, and by which the device reads it.
struct WNSDeliveryRules {
    let request: WNSRequest

    /// Three days, the default expiration of tiles and badges in Windows.
    private static let defaultStorage: Int64 = 3 * 24 * 3_600_000
    private static let glyphs: Set<String> = [
        "none", "activity", "alarm", "alert", "attention", "available", "away", "busy", "error", "newMessage",
        "paused", "playing", "unavailable",
    ]

    /// Converts the accepted notification to a push for the device. A payload that the device cannot read is lost there.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func push(id: String, body: [UInt8], for phone: PhoneDescription, now: Int64) -> AcceptedPush {
        let keeping = keeping(id: id, now: now)
        // In low power mode the device itself defers pushes, so the cache policy of the service does not matter.
        var push = AcceptedPush(
            id: id, data: data(of: body), storagePolicy: request.isCached ? keeping : nil,
            lowPower: request.priority <= 2 ? .comes : .waits(keeping),
            topic: request.type == .tile ? request.tag : nil)
        guard request.type != .raw else {
            push.isBackground = true
            push.wakesApp = true
            push.needsApp = !phone.app.hasBackgroundTask
            push.outlivesApp = phone.app.hasBackgroundTask
            return push
        }
        guard let root = XMLNode(body) else {
            push.fault = "the XML cannot be read"
            return push
        }
        switch request.type {
        case .toast: push.apply(toast: root, tag: request.tag, group: request.group)
        case .tile: push.apply(tile: root, tag: request.tag)
        default: push.apply(badge: root, glyphs: Self.glyphs)
        }
        return push
    }

    /// How it is stored for an offline device: one badge, one toast, one raw push and five tiles. A tile replaces a stored one with the
    /// same tag.
    private func keeping(id: String, now: Int64) -> AcceptedPush.StoragePolicy? {
        guard request.timeToLive != 0 else { return nil }
        let until = now + (request.timeToLive.map { $0 * 1000 } ?? Self.defaultStorage)
        guard request.type == .tile else { return AcceptedPush.StoragePolicy(slot: request.type.rawValue, capacity: 1, until: until) }
        return AcceptedPush.StoragePolicy(
            slot: request.tag.map { "tag:\($0)" } ?? "id:\(id)", capacity: 1, family: "tile", slots: 5, until: until)
    }

    /// The payload for the inbox: a raw push that is a JSON object is unchanged, anything else becomes `{"type", "text"}`, or `{"type",
    /// "base64url"}` if it is not UTF-8.
    private func data(of body: [UInt8]) -> [UInt8] {
        if request.type == .raw, JSONValue(body)?.members != nil { return body }
        let content =
            String(validating: body, as: UTF8.self).map { JSONValue.Member(name: "text", value: .string($0)) }
            ?? JSONValue.Member(name: "base64url", value: .string(Base64URL.text(body)))
        return JSONValue.object([.init(name: "type", value: .string(request.type.rawValue)), content]).bytes
    }
}

extension AcceptedPush {
    /// Reads a toast: the first text is the title, the others are the body; a single text is the body (Microsoft, "App notification
    /// content").
    fileprivate mutating func apply(toast root: XMLNode, tag: String?, group: String?) {
        guard root.name == "toast", let binding = root.first("binding") else {
            fault = "not a toast"
            return
        }
        let texts = binding.all("text").map(\.text)
        banner = Banner(
            title: texts.count > 1 ? texts[0] : "",
            body: (texts.count > 1 ? texts.dropFirst() : texts[...]).joined(separator: "\n"),
            sound: root.first("audio")?.attributes["src"], category: root.attributes["launch"],
            image: binding.first("image")?.attributes["src"],
            replacementKey: tag.map { "\($0)/\(group ?? "")" })
    }

    fileprivate mutating func apply(tile root: XMLNode, tag: String?) {
        guard root.name == "tile", let binding = root.first("binding") else {
            fault = "not a tile"
            return
        }
        surface = .tile(binding.all("text").map(\.text), tag: tag)
    }

    fileprivate mutating func apply(badge root: XMLNode, glyphs: Set<String>) {
        guard root.name == "badge", let value = root.attributes["value"],
            glyphs.contains(value) || (Int(value).map { $0 >= 0 } ?? false)
        else {
            fault = "not a badge"
            return
        }
        surface = .badge(value)
    }
}

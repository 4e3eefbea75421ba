import PushModel

/// Writes the options of a send into native payloads, in the format of each push service, unless the sender has set them there. Azure has
/// no other way to set them.
struct PushOptionsWriter {
    let options: PushOptions
    let now: Timestamp

    func written(into payload: NativePayload, for platform: Platform) -> NativePayload {
        var payload = payload
        switch platform {
        case .apns:
            Self.add("apns-expiration", options.expiration.map { String(max(0, $0.seconds)) }, to: &payload)
            Self.add("apns-priority", options.priority.map { $0 == .high ? "10" : $0 == .normal ? "5" : "1" }, to: &payload)
            Self.add("apns-collapse-id", options.collapseID, to: &payload)
        case .wns:
            Self.add("X-WNS-TTL", options.expiration.map { String(max(0, ($0 - now).components.seconds)) }, to: &payload)
            Self.add("X-WNS-PRIORITY", options.priority?.wnsNumber, to: &payload)
        case .fcmV1: addToMessage(&payload)
        case .gcm, .browser, .mpns, .adm, .baidu, .xiaomi: break
        }
        return payload
    }

    private static func add(_ name: String, _ value: String?, to payload: inout NativePayload) {
        let isGiven = payload.headers.contains { header in
            [name.lowercased(), "x-\(name.lowercased())"].contains(header.name.lowercased())
        }
        if let value, !isGiven { payload.headers.append(PushHeader(name, value)) }
    }

    /// Sets FCM v1 `AndroidConfig`: `ttl`, `priority`, `collapse_key`.
    private func addToMessage(_ payload: inout NativePayload) {
        guard options != PushOptions(), var root = (try? JSON(parsing: payload.body, numbers: .asWritten))?.object,
            var message = root["message"]?.object
        else { return }
        var android = message["android"]?.object ?? JSONObject()
        if let expiration = options.expiration, android["ttl"] == nil {
            android["ttl"] = .string("\(max(0, (expiration - now).components.seconds))s")
        }
        if let priority = options.priority, android["priority"] == nil { android["priority"] = priority == .high ? "HIGH" : "NORMAL" }
        if let id = options.collapseID, android["collapse_key"] == nil { android["collapse_key"] = .string(id) }
        message["android"] = .object(android)
        root["message"] = .object(message)
        payload.body = JSON.object(root).serialized()
    }
}

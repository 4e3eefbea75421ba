import PushModel

extension NativePayload {
    /// Writes the options of a send into the payload in the push service's format, unless the sender has set them there. Azure has no other
    /// way to set them.
    func with(_ options: PushOptions, for platform: Platform, now: Timestamp) -> NativePayload {
        var payload = self
        switch platform {
        case .apns:
            payload.add("apns-expiration", options.expiration.map { String(max(0, $0.seconds)) })
            payload.add("apns-priority", options.priority.map { $0 == .high ? "10" : $0 == .normal ? "5" : "1" })
            payload.add("apns-collapse-id", options.collapseID)
        case .wns:
            payload.add("X-WNS-TTL", options.expiration.map { String(max(0, ($0 - now).components.seconds)) })
            payload.add("X-WNS-PRIORITY", options.priority?.wnsNumber)
        case .fcmV1: payload.addToMessage(options, now: now)
        case .gcm, .browser, .mpns, .adm, .baidu, .xiaomi: break
        }
        return payload
    }

    private mutating func add(_ name: String, _ value: String?) {
        let isGiven = headers.contains { header in
            [name.lowercased(), "x-\(name.lowercased())"].contains(header.name.lowercased())
        }
        if let value, !isGiven { headers.append(PushHeader(name, value)) }
    }

    /// Sets FCM v1 `AndroidConfig`: `ttl`, `priority`, `collapse_key`.
    private mutating func addToMessage(_ options: PushOptions, now: Timestamp) {
        guard options != PushOptions(), var root = (try? JSON(parsing: body))?.object, var message = root["message"]?.object else { return }
        var android = message["android"]?.object ?? JSONObject()
        if let expiration = options.expiration, android["ttl"] == nil {
            android["ttl"] = .string("\(max(0, (expiration - now).components.seconds))s")
        }
        if let priority = options.priority, android["priority"] == nil { android["priority"] = priority == .high ? "HIGH" : "NORMAL" }
        if let id = options.collapseID, android["collapse_key"] == nil { android["collapse_key"] = .string(id) }
        message["android"] = .object(android)
        root["message"] = .object(message)
        body = JSON.object(root).serialized()
    }

    /// The content type of the message to the hub.
    func contentType(_ platform: Platform) -> String {
        switch platform {
        case .wns:
            let isRaw = headers.contains { $0.name.lowercased() == "x-wns-type" && $0.value.lowercased() == "wns/raw" }
            return isRaw ? "application/octet-stream" : "application/xml"
        case .mpns: return "application/xml"
        case .apns, .fcmV1, .gcm, .browser, .adm, .baidu, .xiaomi: return "application/json;charset=utf-8"
        }
    }
}

extension DeviceHandle {
    /// The handle as an element of a batch.
    var subscription: JSON {
        guard case .browser(let endpoint, let p256dh, let auth) = self else { return .string(text) }
        return ["endpoint": .string(endpoint), "p256dh": .string(p256dh), "auth": .string(auth)]
    }
}

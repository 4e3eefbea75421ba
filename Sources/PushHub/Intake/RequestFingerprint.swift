import Crypto
package import PushModel

extension NotificationRequest {
    /// SHA-256 of everything that identifies a request. Each part is preceded by its length, so that different requests never hash the
    /// same bytes.
    package func fingerprint(scheduledFor dueTime: Timestamp?) -> [UInt8] {
        var hash = SHA256()
        func add(_ bytes: [UInt8]) {
            withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: bytes)
        }
        func add(_ texts: String?...) { for text in texts { add(Array((text.map { "=" + $0 } ?? "").utf8)) } }
        func add(_ handle: DeviceHandle) {
            add(handle.platform.rawValue, handle.text)
            if case .browser(_, let key, let secret) = handle { add(key, secret) }
        }
        switch audience {
        case .everyone: add("everyone")
        case .expression(let expression): add("expression", expression.description)
        case .device(let handle):
            add("device")
            add(handle)
        case .devices(let handles):
            add("devices", String(handles.count))
            for handle in handles { add(handle) }
        }
        switch content {
        case .template(let properties):
            add("template")
            for (name, value) in properties.sorted(by: { $0.key < $1.key }) { add(name, value) }
        case .native(let payloads):
            add("native")
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key }) {
                add(platform.rawValue)
                add(payload.body)
                for header in payload.headers { add(header.name, header.value) }
            }
        }
        add(
            "options", options.expiration.map { String($0.milliseconds) }, options.priority?.rawValue, options.collapseID,
            String(isTest), dueTime.map { String($0.milliseconds) })
        // Absent options add nothing, so that keys stored by older versions stay valid.
        if let pace { add("pace", pace.description) }
        if let plan { add("plan", plan.id) }
        return Array(hash.finalize())
    }
}

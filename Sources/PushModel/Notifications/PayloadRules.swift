/// Validation of a platform's payload before anything is sent.
package enum PayloadRules {
    /// Throws `payload.empty`, or `payload.invalid` with the position.
    package static func check(_ payload: NativePayload, for platform: Platform) throws(PushError) {
        let name = platform.displayName
        guard !payload.body.isEmpty else {
            throw PushError("payload.empty", "the \(name) payload is empty", hint: "give it a body", status: 400)
        }
        switch platform {
        case .apns, .fcmV1, .gcm: try checkIsObject(payload.body, name)
        case .wns: try checkWNS(payload)
        case .browser: try DeclarativePush.check(payload.body)
        case .mpns, .adm, .baidu, .xiaomi: break
        }
    }

    /// Throws `payload.too_large` (413) with both sizes.
    package static func checkSize(_ payload: NativePayload, for platform: Platform) throws(PushError) {
        let name = platform.displayName
        let limit = limit(for: platform, headers: payload.headers)
        guard payload.body.count <= limit else {
            throw PushError(
                "payload.too_large",
                "the \(name) payload has \(payload.body.count) bytes; \(name) accepts at most \(limit)",
                hint: "shorten the text, or send an id and let the app fetch the rest", status: 413,
                details: [
                    "platform": .string(platform.rawValue), "size": .integer(Int64(payload.body.count)),
                    "limit": .integer(Int64(limit)),
                ])
        }
    }

    /// The largest body that the platform accepts with these headers, in bytes. APNs accepts 5,120 for VoIP pushes and broadcasts.
    package static func limit(for platform: Platform, headers: [PushHeader]) -> Int {
        let isWide =
            platform == .apns
            && headers.contains { header in
                switch header.name.lowercased() {
                case "apns-push-type", "x-apns-push-type": header.value == "voip"
                default: header.isBroadcastChannel
                }
            }
        return isWide ? 5120 : platform.payloadLimit
    }

    /// Validates the XML, because WNS accepts invalid XML with 200 and the device drops it. Without the header `X-WNS-Type`, the type
    /// follows from the root element; a body that is not XML is raw.
    private static func checkWNS(_ payload: NativePayload) throws(PushError) {
        let type = payload.headers.first { $0.name.lowercased() == "x-wns-type" }?.value.lowercased()
        let body = payload.body.withoutByteOrderMark
        guard type.map(RegistrationTemplate.wnsDocumentTypes.contains) ?? (body.first { !XMLScanner.isBlank($0) } == UInt8(ascii: "<"))
        else { return }
        let hint = "send a toast, tile or badge, or give the header X-WNS-Type the value wns/raw"
        guard let text = String(validating: body, as: UTF8.self) else {
            throw PushError("payload.invalid", "the WNS payload is not XML: it is not UTF-8", hint: hint, status: 400)
        }
        let root: String
        do throws(XMLError) {
            root = try XMLScanner.scan(text).root
        } catch {
            throw PushError(
                "payload.invalid",
                "the WNS payload is not XML: \(error.message.asClause) at line \(error.line), column \(error.column)", hint: hint,
                status: 400)
        }
        let own = "wns/\(root.lowercased())"
        guard RegistrationTemplate.wnsDocumentTypes.contains(own), own == type ?? own else {
            throw PushError(
                "payload.invalid",
                "the root element of the WNS payload is <\(root)>, not \(type ?? "toast, tile or badge")", hint: hint,
                status: 400)
        }
    }

    private static func checkIsObject(_ body: [UInt8], _ name: String) throws(PushError) {
        let hint = "pass a table, or text that is a JSON object"
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: body)
        } catch {
            throw PushError(
                "payload.invalid",
                "the \(name) payload is not JSON: \(error.message.asClause) at line \(error.line), column \(error.column)",
                hint: hint, status: 400)
        }
        guard json.object != nil else {
            throw PushError("payload.invalid", "the \(name) payload is not a JSON object", hint: hint, status: 400)
        }
    }
}

extension PushHeader {
    /// Whether it names a broadcast channel of APNs.
    package var isBroadcastChannel: Bool { ["apns-channel-id", "x-apns-channel-id"].contains(name.lowercased()) }
}

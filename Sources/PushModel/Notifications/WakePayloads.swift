/// Payloads that wake the app without showing anything.
package enum WakePayloads {
    /// Passes the id of a secure payload to the app, as in the tutorials (secure push).
    package static func secure(id: String) -> [Platform: NativePayload] {
        let apns = [PushHeader("apns-push-type", "background"), PushHeader("apns-priority", "5")]
        return [
            .apns: payload(["aps": ["content-available": 1], "secureId": .string(id)], apns),
            .fcmV1: payload(["message": ["data": ["secureId": .string(id)]]]),
            .gcm: payload(["data": ["secureId": .string(id)]]),
            .wns: NativePayload(body: Array(id.utf8), headers: [PushHeader("X-WNS-Type", "wns/raw")]),
            .browser: payload(["secureId": .string(id)]),
        ]
    }

    private static func payload(_ json: JSON, _ headers: [PushHeader] = []) -> NativePayload {
        NativePayload(body: json.serialized(), headers: headers)
    }
}

/// Generates device handles in the format of each service.
enum HandleGenerator {
    /// The host of WNS channels, unless the simulators have their own address.
    static let channelHost = "wns2-db5p.notify.windows.com"
    /// The host of Web Push endpoints, unless the simulators have their own address.
    static let endpointHost = "updates.push.services.mozilla.com"

    /// Returns a new handle and, for a browser, its subscription with the private keys.
    ///
    /// - Parameter authority: Host and port of channels and endpoints; `nil` for those of the real services.
    static func handle(
        for phone: PhoneDescription, at authority: String?, random: SimulatorRandom
    ) -> (handle: PushHandle, subscription: WebPushSubscription?) {
        switch phone.platform {
        // 32 bytes in hexadecimal, as devices have today; Apple guarantees no length.
        case .apns: return plain(random.hex(32))
        // A Firebase installation id of 22 characters, a colon, and the token itself.
        case .fcm: return plain("\(random.base64URL(16)):APA91b\(random.base64URL(99))\(random.base64URL(1))")
        case .wns: return plain("https://\(authority ?? channelHost)/?token=AwYAAAD\(random.base64URL(96))")
        case .browser:
            let subscription = WebPushSubscription(
                endpoint: "https://\(authority ?? endpointHost)/wpush/v2/gAAAAA\(random.base64URL(96))",
                applicationServerKey: phone.app.applicationServerKey, random: random)
            return (PushHandle(text: subscription.text, address: subscription.endpoint), subscription)
        }
    }

    private static func plain(_ text: String) -> (PushHandle, WebPushSubscription?) {
        (PushHandle(text: text, address: text), nil)
    }
}

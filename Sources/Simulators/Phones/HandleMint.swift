/// Makes device handles in the shape that each service gives out.
enum HandleMint {
    /// The host of every simulated WNS channel.
    static let channelHost = "wns2-db5p.notify.windows.com"
    /// The host of every simulated Web Push endpoint.
    static let endpointHost = "updates.push.services.mozilla.com"

    /// A new handle, with what only the browser knows of it.
    static func handle(
        for phone: PhoneDescription, random: SimulatorRandom
    ) -> (handle: PushHandle, subscription: WebPushSubscription?) {
        switch phone.platform {
        // 32 bytes in hexadecimal, as today's devices have them; Apple promises no length.
        case .apns: return plain(random.hex(32))
        // A Firebase installation id of 22 characters, a colon, and the token proper.
        case .fcm: return plain("\(random.base64URL(16)):APA91b\(random.base64URL(99))\(random.base64URL(1))")
        case .wns: return plain("https://\(channelHost)/?token=AwYAAAD\(random.base64URL(96))")
        case .browser:
            let subscription = WebPushSubscription(
                endpoint: "https://\(endpointHost)/wpush/v2/gAAAAA\(random.base64URL(96))",
                applicationServerKey: phone.applicationServerKey, random: random)
            return (PushHandle(text: subscription.text, address: subscription.endpoint), subscription)
        }
    }

    private static func plain(_ text: String) -> (PushHandle, WebPushSubscription?) {
        (PushHandle(text: text, address: text), nil)
    }
}

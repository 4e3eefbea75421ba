/// Makes device handles in the shape that each service gives out.
enum HandleMint {
    /// The host of WNS channels, unless they are on an address of the simulators' own.
    static let channelHost = "wns2-db5p.notify.windows.com"
    /// The host of Web Push endpoints, unless they are on an address of the simulators' own.
    static let endpointHost = "updates.push.services.mozilla.com"

    /// A new handle, with what only the browser knows of it.
    ///
    /// - Parameter authority: Host and port of channels and endpoints; nil for those of the real services.
    static func handle(
        for phone: PhoneDescription, at authority: String?, random: SimulatorRandom
    ) -> (handle: PushHandle, subscription: WebPushSubscription?) {
        switch phone.platform {
        // 32 bytes in hexadecimal, as today's devices have them; Apple promises no length.
        case .apns: return plain(random.hex(32))
        // A Firebase installation id of 22 characters, a colon, and the token proper.
        case .fcm: return plain("\(random.base64URL(16)):APA91b\(random.base64URL(99))\(random.base64URL(1))")
        case .wns: return plain("https://\(authority ?? channelHost)/?token=AwYAAAD\(random.base64URL(96))")
        case .browser:
            let subscription = WebPushSubscription(
                endpoint: "https://\(authority ?? endpointHost)/wpush/v2/gAAAAA\(random.base64URL(96))",
                applicationServerKey: phone.applicationServerKey, random: random)
            return (PushHandle(text: subscription.text, address: subscription.endpoint), subscription)
        }
    }

    private static func plain(_ text: String) -> (PushHandle, WebPushSubscription?) {
        (PushHandle(text: text, address: text), nil)
    }
}

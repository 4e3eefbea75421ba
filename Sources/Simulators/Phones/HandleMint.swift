/// Makes device handles in the shape that each service gives out.
enum HandleMint {
    /// The host of every simulated WNS channel.
    static let channelHost = "wns2-db5p.notify.windows.com"

    static func handle(for platform: PhonePlatform, random: SimulatorRandom) -> String {
        switch platform {
        // 32 bytes in hexadecimal, as today's devices have them; Apple promises no length.
        case .apns: random.hex(32)
        // A Firebase installation id of 22 characters, a colon, and the token proper.
        case .fcm: "\(random.base64URL(16)):APA91b\(random.base64URL(99))\(random.base64URL(1))"
        case .wns: "https://\(channelHost)/?token=AwYAAAD\(random.base64URL(96))"
        }
    }
}

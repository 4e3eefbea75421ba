/// Everything that a push service knows about a device token, registration token, channel or endpoint.
struct HandleRecord: Sendable {
    var phone: PhoneID
    var platform: PhonePlatform
    var app: String
    var environment: APNsEnvironment
    var project: String?
    /// Browsers only: also what the service does not know, the keys that the browser decrypts with.
    var subscription: WebPushSubscription?
    /// When the service gave it out, milliseconds since 1970.
    var issuedAt: Int64
    /// When the service learned that it is dead, milliseconds since 1970; nil while it is alive.
    var retiredAt: Int64?
}

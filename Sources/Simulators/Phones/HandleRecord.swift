/// The record of a push service for a device token, registration token, channel or endpoint.
struct HandleRecord: Sendable {
    var phone: PhoneID
    var platform: PhonePlatform
    var app: String
    var environment: APNsEnvironment
    var project: String?
    /// Browsers only: the subscription with the browser's private keys, which the real service does not know.
    var subscription: WebPushSubscription?
    /// When the service issued it, in milliseconds since 1970.
    var issuedAt: Int64
    /// When it became invalid, in milliseconds since 1970; `nil` while it is valid.
    var retiredAt: Int64?

    /// Approximate size in bytes, with the entries in the lab's tables.
    ///
    /// - Parameter address: the handle's `PushHandle.address`.
    func storedBytes(at address: String) -> Int { 600 + 2 * address.utf8.count + (subscription == nil ? 0 : 400) }
}

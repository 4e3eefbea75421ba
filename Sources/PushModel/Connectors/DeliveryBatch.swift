/// One rendered content for a group of devices of one platform.
package struct DeliveryBatch: Sendable {
    package var notificationID: String
    package var platform: Platform
    /// The rendered body: JSON for APNs, FCM, GCM and browsers, XML or raw bytes for WNS.
    package var body: [UInt8]
    /// The platform's headers from the sender or the template (`apns-*`, `X-WNS-*`). Names are in any case.
    package var headers: [PushHeader]
    package var options: PushOptions
    package var handles: [DeviceHandle]

    package init(
        notificationID: String, platform: Platform, body: [UInt8], headers: [PushHeader] = [],
        options: PushOptions = PushOptions(), handles: [DeviceHandle]
    ) {
        self.notificationID = notificationID
        self.platform = platform
        self.body = body
        self.headers = headers
        self.options = options
        self.handles = handles
    }
}

/// Devices of one platform that are about to receive a notification. Details of single devices are loaded only on request.
package protocol HookedGroup: Sendable {
    var hub: String { get }
    var notificationID: String { get }
    var request: NotificationRequest { get }
    var platform: Platform { get }
    /// Whether the group consists of handles without registrations, which have no tags.
    var isDirect: Bool { get }
    /// The plugins on whose behalf the notification is sent.
    var origin: [String] { get }
    /// Number of devices without a ruling.
    var count: Int { get }

    /// For each tag, the number of devices in the group that have it.
    func counts(of tags: [Tag]) async -> [Int]

    /// At most 1,000 devices of the group, in the order of the hub. For the next page, pass the last number.
    func devices(after number: UInt32?, limit: Int) async -> [HookedDevice]

    /// Applies rulings in order; for each device the first ruling counts. Returns the number of devices that each applied to.
    func rule(_ rulings: [DeliveryRuling]) async -> [Int]
}

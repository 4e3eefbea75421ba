/// A push that woke the app's own code.
package struct AppDelivery: Sendable, Equatable {
    package var phone: PhoneID
    /// The id of the push, as in `InboxItem.id`.
    package var id: String
    /// Milliseconds since 1970.
    package var receivedAt: Int64
    /// The whole payload, as in `InboxItem.data`.
    package var data: [UInt8]

    /// Approximate size, in bytes.
    var storedBytes: Int { 150 + data.count }
}

/// A push that woke the app's own code.
package struct AppDelivery: Sendable, Equatable {
    package var phone: PhoneID
    /// The id of the push, as `InboxItem.id`.
    package var id: String
    /// Milliseconds since 1970.
    package var receivedAt: Int64
    /// The whole payload, as `InboxItem.data`.
    package var data: [UInt8]

    /// About as many bytes as it takes.
    var storedBytes: Int { 150 + data.count }
}

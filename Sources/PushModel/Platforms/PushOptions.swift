/// Options for all platforms. A header of the platform takes precedence.
package struct PushOptions: Hashable, Sendable {
    package enum Priority: String, Sendable { case high, normal, low }

    /// When the notification expires: APNs `apns-expiration`, FCM `ttl`, WNS `X-WNS-TTL`, Web Push `TTL`.
    package var expiration: Timestamp?
    package var priority: Priority?
    /// A later notification with the same id replaces this one. At most 64 bytes (APNs).
    package var collapseID: String?

    package init(expiration: Timestamp? = nil, priority: Priority? = nil, collapseID: String? = nil) {
        self.expiration = expiration
        self.priority = priority
        self.collapseID = collapseID
    }
}

extension PushOptions.Priority {
    /// `X-WNS-PRIORITY`: "an integer value between 1 and 4" (Microsoft, "WNS Notification Priorities"); high, medium, low.
    package var wnsNumber: String {
        switch self {
        case .high: "1"
        case .normal: "2"
        case .low: "3"
        }
    }
}

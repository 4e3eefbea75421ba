/// Speaks one push service's interface: rendered notifications in, one verdict per device out.
package protocol Connector: Sendable {
    var platforms: Set<Platform> { get }

    /// Delivers one body to many devices. Answers exactly one verdict per handle, in the order of the handles; a failure
    /// to reach the service is a verdict too.
    func deliver(_ batch: DeliveryBatch) async -> [Verdict]
}

/// The same content for a group of devices of one platform.
package struct DeliveryBatch: Sendable {
    package var notificationID: String
    package var platform: Platform
    /// What the app or the template wrote: JSON for APNs, FCM, GCM and browsers, XML or raw bytes for WNS.
    package var body: [UInt8]
    /// Headers of the platform as the sender or the template gave them (`apns-*`, `X-WNS-*`), names in any case.
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

package struct PushHeader: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What a sender may ask of any platform; a header of the platform wins over it.
package struct PushOptions: Hashable, Sendable {
    package enum Priority: String, Sendable { case high, normal, low }

    /// When the notification is worthless. APNs `apns-expiration`, FCM `ttl`, WNS `X-WNS-TTL`, Web Push `TTL`.
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

/// A push service's answer for one device. A rejection is an answer, not an error.
package enum Verdict: Sendable, Equatable {
    /// The service took it. `id` is the service's own (`apns-id`, FCM's message name, `X-WNS-Msg-ID`).
    case accepted(id: String?)
    /// The service took the request and will not deliver: final.
    case rejected(Rejection)
    /// Worth another try, after `retryAfter` if the service named a time.
    case transient(Rejection, retryAfter: Duration?)
    /// The connection broke after the request had gone out: it may or may not have been delivered.
    case unknown(reason: String)
}

package struct Rejection: Sendable, Equatable {
    /// What a rejection says beyond its device.
    package enum Scope: Sendable {
        /// The service or the hub's credential may be at fault: other sends are likely to be refused, too.
        case hub
        /// The send's headers are at fault: every device that gets the same is refused likewise, and nothing follows for other sends.
        case headers
        /// The send's content or its device is at fault: nothing follows for others.
        case send
    }

    /// HTTP status; 0 when the connector refused before sending.
    package var status: Int
    /// The service's own word: `BadDeviceToken`, `UNREGISTERED`, `channelthrottled`.
    package var reason: String
    /// What it means and what to do, in words.
    package var explanation: String
    /// Azure's name for it, as telemetry counts it.
    package var outcome: OutcomeName
    /// The handle is dead: the registration goes. `since` is the last moment the service knew it to be, if it says.
    package var isHandleDead: Bool
    package var deadSince: Timestamp?
    /// The handle may be good elsewhere: in the service's other environment, or for another app. Says so in words that hold for all
    /// devices of the credential; nil for a refusal that says nothing of the kind.
    package var mixUp: String?
    package var scope: Scope
    /// The service refuses everything that is sent with this credential for now: requests for other devices would get the same answer.
    package var isCredentialBlocked: Bool

    /// The reason of a simulated service whose lab has no room for another phone.
    package static let labFullReason = "LabFull"

    package init(
        status: Int, reason: String, explanation: String, outcome: OutcomeName, isHandleDead: Bool = false,
        deadSince: Timestamp? = nil, mixUp: String? = nil, scope: Scope = .hub, isCredentialBlocked: Bool = false
    ) {
        self.status = status
        self.reason = reason
        self.explanation = explanation
        self.outcome = outcome
        self.isHandleDead = isHandleDead
        self.deadSince = deadSince
        self.mixUp = mixUp
        self.scope = scope
        self.isCredentialBlocked = isCredentialBlocked
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

import PushModel

/// A notification that is about to be accepted. Times are milliseconds since 1970.
public struct NotificationDraft: Sendable {
    var base: SendDraft

    init(_ base: SendDraft) { self.base = base }

    /// Makes a draft, to test a hook.
    ///
    /// - Parameter expression: The tag expression; nil sends to everyone.
    /// - Throws: An error if the expression is invalid.
    public init(hub: String = "hub", to expression: String? = nil, properties: [String: String]) throws {
        let audience = try expression.map { Audience.expression(try TagExpression(parsing: $0)) } ?? .everyone
        base = SendDraft(hub: hub, request: NotificationRequest(audience: audience, content: .template(properties)))
    }

    /// The name of the hub.
    public var hub: String { base.hub }
    public var audience: NotificationAudience { NotificationAudience(base.request.audience) }
    /// The properties for templates; nil for a native notification, which has payloads. Cannot be changed from nil.
    public var properties: [String: String]? {
        get { if case .template(let properties) = base.request.content { properties } else { nil } }
        set { if let newValue, properties != nil { base.request.content = .template(newValue) } }
    }
    /// The payload bodies of a native notification by platform: `apns`, `fcm`, `gcm`, `wns`, `browser`.
    public var payloads: [String: [UInt8]] {
        guard case .native(let payloads) = base.request.content else { return [:] }
        return Dictionary(uniqueKeysWithValues: payloads.map { ($0.key.shortName, $0.value.body) })
    }
    /// `high`, `normal` or `low`.
    public var priority: String? { base.request.options.priority?.rawValue }
    /// Whether it is a test send.
    public var isTest: Bool { base.request.isTest }
    /// The due time; nil: at once. At most seven days ahead.
    public var at: Int64? {
        get { base.dueTime?.milliseconds }
        set { base.dueTime = newValue.map(Timestamp.init(milliseconds:)) }
    }
    /// The time after which it is no longer delivered.
    public var expires: Int64? {
        get { base.request.options.expiration?.milliseconds }
        set { base.request.options.expiration = newValue.map(Timestamp.init(milliseconds:)) }
    }
    /// The plugins that caused the send.
    public var origin: [String] { base.origin }

    /// Changes the audience.
    ///
    /// - Throws: An error if the tag expression is invalid.
    public mutating func address(_ expression: String) throws {
        base.request.audience = .expression(try TagExpression(parsing: expression))
    }
}

/// The audience of a notification.
public enum NotificationAudience: Sendable, Equatable {
    case everyone
    /// Devices whose tags match the expression.
    case expression(String)
    /// This number of handles without registrations.
    case devices(Int)

    init(_ audience: Audience) {
        switch audience {
        case .everyone: self = .everyone
        case .expression(let expression): self = .expression(expression.description)
        case .device: self = .devices(1)
        case .devices(let handles): self = .devices(handles.count)
        }
    }
}

/// An accepted notification.
public struct NotificationReceipt: Sendable {
    public let id: String
    public let notification: NotificationDraft

    /// Makes a receipt, to test a hook.
    public init(id: String, notification: NotificationDraft) { (self.id, self.notification) = (id, notification) }

    init(_ base: SentNotification) {
        id = base.id
        notification = NotificationDraft(base.draft)
    }
}

/// The final result of a notification.
public struct Outcome: Sendable {
    private let base: EndedNotification

    init(_ base: EndedNotification) { self.base = base }

    /// Makes an outcome, to test a hook.
    ///
    /// - Parameters:
    ///   - state: A state name of Azure; an unknown name becomes `Completed`.
    ///   - counts: Number of devices per outcome, by platform. Unknown names are ignored.
    public init(id: String, hub: String = "hub", state: String = "Completed", tags: String? = nil, counts: [String: [String: Int]] = [:]) {
        var outcome = NotificationOutcome(
            id: id, state: NotificationOutcome.State(rawValue: state) ?? .completed, tags: tags,
            times: NotificationTimes(enqueuedAt: Timestamp(milliseconds: 0)))
        for (platform, numbers) in counts {
            guard let platform = Platform.delivered.first(where: { $0.shortName == platform }) else { continue }
            for (name, number) in numbers {
                if let name = OutcomeName(rawValue: name) { outcome.tally.counts[platform, default: [:]][name] = number }
            }
        }
        base = EndedNotification(hub: hub, outcome: outcome)
    }

    public var hub: String { base.hub }
    public var id: String { base.outcome.id }
    /// The state in Azure's terms: `Completed`, `NoTargetFound`, `Cancelled`, ….
    public var state: String { base.outcome.state.rawValue }
    /// The tag expression as sent; nil for everyone and for handles.
    public var tags: String? { base.outcome.tags }
    /// Number of devices whose push service accepted the notification.
    public var sent: Int { base.outcome.sent }
    public var failed: Int { base.outcome.failed }
    public var total: Int { base.outcome.total }
    /// Number of devices per outcome, by platform.
    public var counts: [String: [String: Int]] {
        Dictionary(
            uniqueKeysWithValues: base.outcome.counts.map { platform, counts in
                (platform.shortName, Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) }))
            })
    }
    /// The plugins that caused the send.
    public var origin: [String] { base.origin }
}

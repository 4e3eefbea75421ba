import PushCore

/// A notification that is about to be accepted. Times are in milliseconds since 1970.
public struct NotificationDraft: Sendable {
    var base: SendDraft

    init(_ base: SendDraft) { self.base = base }

    /// One for tests of a hook.
    ///
    /// - Parameter expression: the tags that are addressed; nil: everyone.
    /// - Throws: what is wrong with the expression.
    public init(hub: String = "hub", to expression: String? = nil, properties: [String: String]) throws {
        let audience = try expression.map { Audience.expression(try TagExpression(parsing: $0)) } ?? .everyone
        base = SendDraft(hub: hub, request: NotificationRequest(audience: audience, content: .template(properties)))
    }

    /// The name of the hub.
    public var hub: String { base.hub }
    public var audience: NotificationAudience { NotificationAudience(base.request.audience) }
    /// What templates are filled with; nil of a native notification, which has payloads, and stays one.
    public var properties: [String: String]? {
        get { if case .template(let properties) = base.request.content { properties } else { nil } }
        set { if let newValue, properties != nil { base.request.content = .template(newValue) } }
    }
    /// The bodies of a native notification by platform: `apns`, `fcm`, `gcm`, `wns`, `browser`.
    public var payloads: [String: [UInt8]] {
        guard case .native(let payloads) = base.request.content else { return [:] }
        return Dictionary(uniqueKeysWithValues: payloads.map { ($0.key.shortName, $0.value.body) })
    }
    /// `high`, `normal` or `low`.
    public var priority: String? { base.request.options.priority?.rawValue }
    /// Whether it is a test send.
    public var isTest: Bool { base.request.isTest }
    /// When it is to go out; nil: at once. At most seven days ahead.
    public var at: Int64? {
        get { base.moment?.milliseconds }
        set { base.moment = newValue.map(Timestamp.init(milliseconds:)) }
    }
    /// Until when it is worth delivering.
    public var expires: Int64? {
        get { base.request.options.expiration?.milliseconds }
        set { base.request.options.expiration = newValue.map(Timestamp.init(milliseconds:)) }
    }
    /// The plugins on whose behalf it is sent.
    public var origin: [String] { base.origin }

    /// Sends it to others.
    ///
    /// - Throws: what is wrong with the tag expression.
    public mutating func address(_ expression: String) throws {
        base.request.audience = .expression(try TagExpression(parsing: expression))
    }
}

/// Who gets a notification.
public enum NotificationAudience: Sendable, Equatable {
    case everyone
    /// Those who have such tags.
    case expression(String)
    /// So many handles without registrations.
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

/// A notification that was accepted.
public struct NotificationReceipt: Sendable {
    public let id: String
    public let notification: NotificationDraft

    /// One for tests of a hook.
    public init(id: String, notification: NotificationDraft) { (self.id, self.notification) = (id, notification) }

    init(_ base: SentNotification) {
        id = base.id
        notification = NotificationDraft(base.draft)
    }
}

/// How a notification ended.
public struct Outcome: Sendable {
    private let base: EndedNotification

    init(_ base: EndedNotification) { self.base = base }

    /// One for tests of a hook.
    ///
    /// - Parameters:
    ///   - state: as Azure has it; `Completed` where it is none of Azure's.
    ///   - counts: how many devices ended how, by platform; names that there are not are left out.
    public init(id: String, hub: String = "hub", state: String = "Completed", tags: String? = nil, counts: [String: [String: Int]] = [:]) {
        var outcome = NotificationOutcome(
            id: id, state: NotificationOutcome.State(rawValue: state) ?? .completed, tags: tags, enqueuedAt: Timestamp(milliseconds: 0))
        for (platform, numbers) in counts {
            guard let platform = Platform.delivered.first(where: { $0.shortName == platform }) else { continue }
            for (name, number) in numbers {
                if let name = OutcomeName(rawValue: name) { outcome.counts[platform, default: [:]][name] = number }
            }
        }
        base = EndedNotification(hub: hub, outcome: outcome)
    }

    public var hub: String { base.hub }
    public var id: String { base.outcome.id }
    /// As Azure has it: `Completed`, `NoTargetFound`, `Cancelled`, ….
    public var state: String { base.outcome.state.rawValue }
    /// The tag expression, as it was sent; nil for everyone and for handles.
    public var tags: String? { base.outcome.tags }
    /// Devices whose push service took it.
    public var sent: Int { base.outcome.sent }
    public var failed: Int { base.outcome.failed }
    public var total: Int { base.outcome.total }
    /// How many devices ended how, by platform.
    public var counts: [String: [String: Int]] {
        Dictionary(
            uniqueKeysWithValues: base.outcome.counts.map { platform, counts in
                (platform.shortName, Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) }))
            })
    }
    /// The plugins on whose behalf it was sent.
    public var origin: [String] { base.origin }
}

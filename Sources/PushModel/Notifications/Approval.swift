/// A send that reaches more devices than its sender may reach alone, with the approval that it awaits or received.
package struct Approval: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case pending
        /// Approved but not yet known to be sent. If the process ends in this state, the next start sends it.
        case approved
        case sent
        case denied
        /// The request expired without a decision.
        case expired
        /// Approved, but the hub rejected the send.
        case failed
    }

    /// Starts at 1 and counts up per server.
    package var number: Int64
    package var state: State
    package var origin: Origin
    /// When the request expires without a decision.
    package let expiresAt: Timestamp
    package let keys: Keys
    /// What the send covers. Once sent, describes what was sent.
    package var scope: Scope
    /// The send itself; nil once it has been sent or can no longer be sent.
    package var request: NotificationRequest?
    package var decision: Decision?
    /// The id of the notification; nil until it is sent.
    package var notificationID: String?
    /// Why the hub rejected the send.
    package var failure: String?

    /// The request for a send: who made it, when, and at which hub.
    package struct Origin: Sendable, Equatable {
        package let hub: Hub
        package let requester: Principal
        /// The principal that started the requesting flow, if any. It may not approve the request either.
        package var behalf: Principal?
        /// The requester's note to the approver.
        package let note: String?
        package let createdAt: Timestamp

        package init(hub: Hub, requester: Principal, behalf: Principal? = nil, note: String?, createdAt: Timestamp) {
            (self.hub, self.requester, self.behalf, self.note, self.createdAt) = (hub, requester, behalf, note, createdAt)
        }

        /// The requester and the principal it acted for: `flow:news, which key:ops started`.
        package var requesterDescription: String { "\(requester)\(behalf.map { ", which \($0) started" } ?? "")" }

        /// Whether the principal made this request or the request was made on its behalf.
        package func isRequested(by principal: Principal) -> Bool { requester == principal || behalf == principal }
    }

    /// The keys that identify a send, so that it is requested and sent once.
    package struct Keys: Sendable, Equatable {
        /// Hash of the request as made, before hooks changed it. A repeated request with the same fingerprint gets the same approval.
        package let fingerprint: [UInt8]
        /// The idempotency key that the requester passed.
        package let idempotencyKey: String?
        /// A secret idempotency key for the send to the hub: the hub accepts it once, however often the send is retried.
        package let sendKey: String

        package init(fingerprint: [UInt8], idempotencyKey: String?, sendKey: String) {
            (self.fingerprint, self.idempotencyKey, self.sendKey) = (fingerprint, idempotencyKey, sendKey)
        }

        /// Whether both belong to the same send: one request repeats the other.
        package func isRepeated(by other: Keys) -> Bool {
            fingerprint == other.fingerprint || idempotencyKey != nil && idempotencyKey == other.idempotencyKey
        }
    }

    /// The scope of a send: its time, audience and content in words, and its size.
    package struct Scope: Sendable, Equatable {
        /// When the notification is due; nil: as soon as it is approved.
        package let dueAt: Timestamp?
        /// Readable summary without any content of the message.
        package var audience: String
        package var content: String
        /// The limit above which approval is needed, and its owner.
        package let ceiling: Ceiling
        /// How many devices the send reaches: counted at the request, updated at each review and when it is sent.
        package var reach: AudienceReach

        package init(dueAt: Timestamp?, audience: String, content: String, ceiling: Ceiling, reach: AudienceReach) {
            (self.dueAt, self.audience, self.content, self.ceiling, self.reach) = (dueAt, audience, content, ceiling, reach)
        }

        /// The number of devices that an approval covers; nil for any number. The audience may grow by a tenth, or by 5 devices if that is
        /// more.
        package var maximumDevices: Int? { reach.isUnknown ? nil : reach.devices + max(5, reach.devices / 10) }

        /// Whether an approval covers the reach counted now.
        package func allows(_ now: AudienceReach) -> Bool { maximumDevices.map { !now.isUnknown && now.devices <= $0 } ?? true }

        /// Why approval is needed: `more than the limit of 1,000 for key:ops`.
        package var why: String { "\(reach.isUnknown ? "maybe " : "")more than \(ceiling.sentence)" }
    }

    package struct Hub: Sendable, Equatable {
        package let number: Int64
        package let name: String

        package init(number: Int64, name: String) { (self.number, self.name) = (number, name) }
    }

    package struct Ceiling: Sendable, Equatable {
        package let devices: Int
        /// The sender whose own limit this is; nil for the server's limit.
        package let owner: Principal?

        package init(devices: Int, owner: Principal?) { (self.devices, self.owner) = (devices, owner) }
    }

    package struct Decision: Sendable, Equatable {
        package let principal: Principal
        package let time: Timestamp
        package let reason: String?

        package init(principal: Principal, time: Timestamp, reason: String?) {
            (self.principal, self.time, self.reason) = (principal, time, reason)
        }
    }

    package init(
        number: Int64 = 0, state: State = .pending, origin: Origin, expiresAt: Timestamp, keys: Keys, scope: Scope,
        request: NotificationRequest?, decision: Decision? = nil
    ) {
        (self.number, self.state, self.origin, self.expiresAt) = (number, state, origin, expiresAt)
        (self.keys, self.scope, self.request, self.decision) = (keys, scope, request, decision)
    }

    package var hub: Hub { origin.hub }
    package var requester: Principal { origin.requester }
    package var note: String? { origin.note }
    package var ceiling: Ceiling { scope.ceiling }
    package var reach: AudienceReach { scope.reach }

    /// `a-3`
    package var id: String { Self.id(number) }

    package static func id(_ number: Int64) -> String { "a-\(number)" }

    /// The number in an id such as `a-3`; nil for an invalid id.
    package static func number(_ id: String) -> Int64? {
        guard id.lowercased().hasPrefix("a-") else { return nil }
        return Int64(id.dropFirst(2)).flatMap { $0 > 0 ? $0 : nil }
    }

    /// How many devices the send may reach at its due time; nil for any number.
    package var approvedReach: ApprovedReach? {
        scope.maximumDevices.map { ApprovedReach(devices: $0, basis: .approval(id)) }
    }

    /// A one-line summary: `12,430 devices · everyone · requested by key:ops · note "outage notice"`.
    package var words: String {
        "\(reach.words) · \(scope.audience) · requested by \(origin.requesterDescription)\(note.map { " · note \"\($0)\"" } ?? "")"
    }
}

extension Int {
    /// `12,430 devices`
    package var deviceCountText: String { "\(grouped) device\(self == 1 ? "" : "s")" }

    /// Decimal with a comma between thousands.
    package var grouped: String {
        var text = String(magnitude)
        var index = text.count - 3
        while index > 0 {
            text.insert(",", at: text.index(text.startIndex, offsetBy: index))
            index -= 3
        }
        return self < 0 ? "-\(text)" : text
    }
}

extension Approval.Ceiling {
    /// `the limit of 1,000 for key:ops`
    package var sentence: String { approvedReach.text }

    package var approvedReach: ApprovedReach { ApprovedReach(devices: devices, basis: .ceiling(of: owner)) }
}

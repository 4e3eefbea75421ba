/// A send that reaches more devices than its sender may reach by himself: it waits for somebody else's leave, or has waited.
package struct Approval: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case pending
        /// Allowed, and not known to be sent. A process that ends in between sends it at its next start.
        case approved
        case sent
        case denied
        /// Nobody decided in time.
        case expired
        /// Allowed, and the hub did not take it.
        case failed
    }

    /// Counted from 1 on a server.
    package var number: Int64
    package var state: State
    package let hub: Hub
    package let requester: Principal
    /// Who had the requester do it: whoever started a flow. He may not approve it either.
    package var behalf: Principal?
    /// For the approver, in the sender's words.
    package let note: String?
    /// When it is to go out; nil: as soon as it is allowed.
    package let moment: Timestamp?
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    /// What was asked for, whatever hooks made of it: whoever asks for the same again gets the same approval.
    package let fingerprint: [UInt8]
    /// The sender's.
    package let idempotencyKey: String?
    /// With which the hub takes it once, however often it is offered. Nobody knows it who could use it before.
    package let sendKey: String
    /// For people, without a word of what is sent; of what really left once it is sent.
    package var audience: String
    package var content: String
    /// How many devices may be reached without leave, and whose limit that is.
    package let ceiling: Ceiling
    /// When it was asked for, or looked at last; when it was sent.
    package var reach: AudienceReach
    /// Nil once it has been sent, or will not be.
    package var request: NotificationRequest?
    package var decision: Decision?
    /// Once it is sent.
    package var notificationID: String?
    /// Why the hub did not take it.
    package var failure: String?

    package struct Hub: Sendable, Equatable {
        package let number: Int64
        package let name: String

        package init(number: Int64, name: String) { (self.number, self.name) = (number, name) }
    }

    package struct Ceiling: Sendable, Equatable {
        package let devices: Int
        /// The sender whose own limit it is; nil for the server's.
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
        number: Int64 = 0, state: State = .pending, hub: Hub, requester: Principal, note: String?, moment: Timestamp?, createdAt: Timestamp,
        expiresAt: Timestamp, fingerprint: [UInt8], idempotencyKey: String?, sendKey: String, audience: String, content: String,
        ceiling: Ceiling, reach: AudienceReach, request: NotificationRequest?, decision: Decision? = nil, notificationID: String? = nil
    ) {
        (self.number, self.state, self.hub, self.requester, self.note, self.moment) = (number, state, hub, requester, note, moment)
        (self.createdAt, self.expiresAt, self.fingerprint) = (createdAt, expiresAt, fingerprint)
        (self.idempotencyKey, self.sendKey, self.audience, self.content) = (idempotencyKey, sendKey, audience, content)
        (self.ceiling, self.reach, self.request, self.decision) = (ceiling, reach, request, decision)
        self.notificationID = notificationID
    }

    /// `a-3`
    package var id: String { Self.id(number) }

    package static func id(_ number: Int64) -> String { "a-\(number)" }

    /// Nil for a text that is no id.
    package static func number(_ id: String) -> Int64? {
        guard id.lowercased().hasPrefix("a-") else { return nil }
        return Int64(id.dropFirst(2)).flatMap { $0 > 0 ? $0 : nil }
    }

    /// `flow:news, which key:ops started`
    package var requesterInWords: String { "\(requester)\(behalf.map { ", which \($0) started" } ?? "")" }

    /// Whether it is somebody's own request, or was made for him.
    package func isAsked(by principal: Principal) -> Bool { requester == principal || behalf == principal }

    /// Whether a leave for it is one for so many.
    package func allows(_ now: AudienceReach) -> Bool { reach.isUnknown || !now.isUnknown && now.devices <= mostDevices }

    /// An audience may grow by a tenth, and some at least.
    private var mostDevices: Int { reach.devices + max(5, reach.devices / 10) }

    /// How many devices it may reach at its due time; nil for any number.
    var approvedReach: ApprovedReach? { reach.isUnknown ? nil : ApprovedReach(devices: mostDevices, basis: .approval(id)) }

    /// `more than the 1,000 that key:ops may reach without leave`
    package var why: String { "\(reach.isUnknown ? "maybe " : "")more than \(ceiling.sentence)" }

    /// `12,430 devices, everyone, asked for by key:ops: "outage notice"`
    package var words: String {
        "\(reach.words), \(audience), asked for by \(requesterInWords)\(note.map { ": \"\($0)\"" } ?? "")"
    }
}

/// How many devices a send reaches at a moment.
package struct AudienceReach: Sendable, Equatable {
    package var platforms: [Platform: Int]
    /// It goes to a broadcast channel of APNs, which counts as one: how many have subscribed to it Apple alone knows.
    package var isUnknown: Bool

    package init(platforms: [Platform: Int] = [:], isUnknown: Bool = false) { (self.platforms, self.isUnknown) = (platforms, isUnknown) }

    package var devices: Int { platforms.values.reduce(0, +) }

    /// The number of devices; nil where it is unknown.
    package var count: Int? { isUnknown ? nil : devices }

    /// `12,430 devices`
    package var words: String { Notice.devices(count) }
}

extension Int {
    /// `12,430 devices`
    package var devicesInWords: String { "\(grouped) device\(self == 1 ? "" : "s")" }

    /// With commas between thousands.
    package var grouped: String {
        var text = String(magnitude)
        var place = text.count - 3
        while place > 0 {
            text.insert(",", at: text.index(text.startIndex, offsetBy: place))
            place -= 3
        }
        return self < 0 ? "-\(text)" : text
    }
}

/// The way of one notification to one device, and the reason of its end.
package struct DeliveryTrace: Sendable, Equatable {
    /// Stages of a delivery.
    package enum Step: String, Sendable, CaseIterable {
        case notification, device, tags, kind, duplicate, content, plugin, turn, service, phone
    }

    package struct Line: Sendable, Equatable {
        /// Nil if the time was not stored.
        package var time: Timestamp?
        package var step: Step
        package var text: String
        /// Whether the delivery passed this stage; nil if nothing was decided.
        package var isGood: Bool?
        /// Whether this line explains the result.
        package var isCause: Bool

        package init(time: Timestamp?, step: Step, text: String, isGood: Bool? = nil, isCause: Bool = false) {
            (self.time, self.step, self.text, self.isGood, self.isCause) = (time, step, text, isGood, isCause)
        }
    }

    /// Name of the device as the question gave it, or its installation or registration id.
    package var device: String
    /// Nil if unknown.
    package var platform: Platform?
    package var lines: [Line]
    package var cause: TraceCause
    /// The explanation, for readers who do not know the system.
    package var sentence: String

    package init(device: String, platform: Platform?, lines: [Line], cause: TraceCause, sentence: String) {
        (self.device, self.platform, self.lines, self.cause, self.sentence) = (device, platform, lines, cause, sentence)
    }
}

/// The notification and the device to trace.
package struct TraceQuestion: Sendable, Equatable {
    package var notification: String
    /// Installation id, registration id, handle or its prefix, user, or simulated phone. Nil: count the devices per cause.
    package var device: String?

    package init(notification: String, device: String? = nil) { (self.notification, self.device) = (notification, device) }
}

package struct TraceAnswer: Sendable, Equatable {
    /// Number of devices with the same cause.
    package struct Count: Sendable, Equatable {
        package var cause: TraceCause
        package var devices: Int
        /// One of the devices, by a name that can be traced.
        package var example: String
        /// The explanation for the example.
        package var sentence: String

        package init(cause: TraceCause, devices: Int, example: String, sentence: String) {
            (self.cause, self.devices, self.example, self.sentence) = (cause, devices, example, sentence)
        }
    }

    package var notification: String
    package var state: NotificationOutcome.State
    /// Nil for a broadcast and for a direct send.
    package var tags: String?
    /// When the notification was accepted.
    package var time: Timestamp
    /// One trace per matching device.
    package var traces: [DeliveryTrace]
    /// Number of matching devices beyond the limit.
    package var furtherDevices: Int
    /// Most devices first; empty if the question names a device.
    package var counts: [Count]
    /// If the notification reached no device: similar tags and other hints, for people.
    package var nearMisses: [String]

    package init(
        notification: String, state: NotificationOutcome.State, tags: String?, time: Timestamp, traces: [DeliveryTrace] = [],
        furtherDevices: Int = 0, counts: [Count] = [], nearMisses: [String] = []
    ) {
        (self.notification, self.state, self.tags, self.time) = (notification, state, tags, time)
        (self.traces, self.furtherDevices, self.counts, self.nearMisses) = (traces, furtherDevices, counts, nearMisses)
    }
}

extension String {
    /// Replaces `{name}` with its value. Names without a value are left unchanged.
    package func filled(_ values: [String: String]) -> String {
        var text = ""
        var rest = self[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            text += values[name] ?? "{\(name)}"
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }
}

extension Timestamp {
    /// `2026-01-05 09:00:00 UTC`, for sentences.
    package var inSentence: String { iso8601(fraction: false).replacing("T", with: " ").replacing("Z", with: " UTC") }
}

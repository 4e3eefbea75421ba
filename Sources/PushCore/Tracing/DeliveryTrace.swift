/// The way of one notification to one device, and why it ended as it did.
package struct DeliveryTrace: Sendable, Equatable {
    /// Where on the way something was decided.
    package enum Step: String, Sendable, CaseIterable {
        case notification, device, tags, kind, duplicate, content, plugin, turn, service, phone
    }

    package struct Line: Sendable, Equatable {
        /// Nil where the moment was not kept.
        package var time: Timestamp?
        package var step: Step
        package var text: String
        /// Whether it went on from there; nil where nothing was decided.
        package var isGood: Bool?
        /// This is why.
        package var isCause: Bool

        package init(time: Timestamp?, step: Step, text: String, isGood: Bool? = nil, isCause: Bool = false) {
            (self.time, self.step, self.text, self.isGood, self.isCause) = (time, step, text, isGood, isCause)
        }
    }

    /// As it was asked for, or by its installation or registration.
    package var device: String
    /// Nil where it is not known.
    package var platform: Platform?
    package var lines: [Line]
    package var cause: TraceCause
    /// For people who do not know the system.
    package var sentence: String

    package init(device: String, platform: Platform?, lines: [Line], cause: TraceCause, sentence: String) {
        (self.device, self.platform, self.lines, self.cause, self.sentence) = (device, platform, lines, cause, sentence)
    }
}

/// What a trace is asked for.
package struct TraceQuestion: Sendable, Equatable {
    package var notification: String
    /// An installation, a registration, a handle or its beginning, a user, a simulated phone; nil asks how many ended how.
    package var device: String?

    package init(notification: String, device: String? = nil) { (self.notification, self.device) = (notification, device) }
}

package struct TraceAnswer: Sendable, Equatable {
    /// How many devices had one cause.
    package struct Count: Sendable, Equatable {
        package var cause: TraceCause
        package var devices: Int
        /// By what it can be traced.
        package var example: String
        /// Of the example.
        package var sentence: String

        package init(cause: TraceCause, devices: Int, example: String, sentence: String) {
            (self.cause, self.devices, self.example, self.sentence) = (cause, devices, example, sentence)
        }
    }

    package var notification: String
    package var state: NotificationOutcome.State
    /// Nil for a broadcast and for a send straight to devices.
    package var tags: String?
    /// When it was accepted.
    package var time: Timestamp
    /// One for each device that was meant.
    package var traces: [DeliveryTrace]
    /// Devices that were meant beyond those.
    package var furtherDevices: Int
    /// Of all devices, where none was named: most devices first.
    package var counts: [Count]
    /// Where it reached nobody: what comes close, in words.
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
    /// The text with what stands in its braces filled in; what has no value stays.
    func filled(_ values: [String: String]) -> String {
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

/// The content and the devices of a possible send.
package struct SendPreview: Sendable, Equatable {
    /// Devices that would get the same bytes.
    package struct Group: Sendable, Equatable {
        package struct Refusal: Sendable, Equatable {
            package var outcome: OutcomeName
            package var reason: String
            /// What it means and what to do, as text.
            package var explanation: String

            package init(outcome: OutcomeName, reason: String, explanation: String) {
                self.outcome = outcome
                self.reason = reason
                self.explanation = explanation
            }
        }

        package var platform: Platform
        /// Nil for a native payload and for an unnamed template.
        package var templateName: String?
        package var body: [UInt8]
        package var headers: [PushHeader]
        package var devices: Int
        /// Why these devices would get nothing; nil if they would get the push.
        package var refusal: Refusal?

        package init(
            platform: Platform, templateName: String? = nil, body: [UInt8], headers: [PushHeader], devices: Int, refusal: Refusal? = nil
        ) {
            self.platform = platform
            self.templateName = templateName
            self.body = body
            self.headers = headers
            self.devices = devices
            self.refusal = refusal
        }
    }

    /// Number of registrations that match the audience, of any kind.
    package var matched: Int
    /// In sending order.
    package var groups: [Group]
    /// Number of groups beyond the limit.
    package var furtherGroups: Int
    /// If no device would get anything: similar tags and other explanations, as text.
    package var nearMisses: [String]

    package init(matched: Int, groups: [Group], furtherGroups: Int, nearMisses: [String]) {
        self.matched = matched
        self.groups = groups
        self.furtherGroups = furtherGroups
        self.nearMisses = nearMisses
    }
}

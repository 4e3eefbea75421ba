/// A request for a plan: audience and content.
package struct PlanRequest: Sendable, Equatable {
    package var audience: Audience
    /// Nil to plan only which registrations match.
    package var content: NotificationContent?
    /// Whether to store the plan, so that a send can refer to it.
    package var isStored: Bool
    /// Maximum number of devices that the report lists, up to 1,000.
    package var deviceLimit: Int

    package init(audience: Audience, content: NotificationContent? = nil, isStored: Bool = true, deviceLimit: Int = 0) {
        self.audience = audience
        self.content = content
        self.isStored = isStored
        self.deviceLimit = deviceLimit
    }

    package static let maximumDevices = 1000

    /// Plans with the same subject are compared with each other: same expression text, and content for the same kind of registrations.
    package var subject: String {
        let words =
            switch audience {
            case .everyone: "*"
            case .expression(let expression): expression.description.lowercased()
            case .device, .devices: "-"
            }
        switch content {
        case nil: return "all \(words)"
        case .template: return "template \(words)"
        case .native(let payloads): return "native \(payloads.keys.sorted().map(\.rawValue).joined(separator: ",")) \(words)"
        }
    }
}

/// A send to exactly the devices of a plan.
package struct PlannedSend: Sendable, Equatable {
    package var binding: PlanBinding
    /// Nil: the content of the plan. Different content is rejected.
    package var content: NotificationContent?
    package var options: PushOptions
    package var pace: Pace?

    package init(_ binding: PlanBinding, content: NotificationContent? = nil, options: PushOptions = PushOptions(), pace: Pace? = nil) {
        self.binding = binding
        self.content = content
        self.options = options
        self.pace = pace
    }
}

/// Plan ids: `p-0001` and so on, numbered per hub.
package enum PlanID {
    package static func text(_ number: Int64) -> String { "p-\(Int(number).padded(4))" }

    /// Parses a plan id. Returns nil if it is invalid.
    package static func number(of id: String) -> Int64? {
        guard id.hasPrefix("p-"), (1...18).contains(id.utf8.count - 2), id.utf8.dropFirst(2).allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(id.dropFirst(2)), number > 0, text(number) == id
        else { return nil }
        return number
    }
}

/// Whom a plan is for, and what they would get.
package struct PlanRequest: Sendable, Equatable {
    package var audience: Audience
    /// Nil where it is only asked whom the audience names.
    package var content: NotificationContent?
    /// Whether it is kept, so that a send can be bound to it.
    package var isKept: Bool
    /// Most devices that the report tells one by one, at most 1,000.
    package var told: Int

    package init(audience: Audience, content: NotificationContent? = nil, isKept: Bool = true, told: Int = 0) {
        self.audience = audience
        self.content = content
        self.isKept = isKept
        self.told = told
    }

    package static let mostTold = 1000

    /// Audiences with the same subject are compared with each other: the same words, and content for the same kind of registrations.
    var subject: String {
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

/// A send to the devices of a plan, and to nobody else.
package struct PlannedSend: Sendable, Equatable {
    package var binding: PlanBinding
    /// Nil: that of the plan. One that differs from it is refused.
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

/// Which plan a notification is bound to.
package struct PlanBinding: Sendable, Hashable {
    package var id: String
    /// How far the audience may have drifted when the notification is accepted.
    package var tolerance: DriftTolerance

    package init(_ id: String, tolerance: DriftTolerance = .none) {
        self.id = id
        self.tolerance = tolerance
    }
}

/// How many devices may have joined, left or changed since a plan was made.
package enum DriftTolerance: Sendable, Hashable, CustomStringConvertible {
    case devices(Int)
    /// Hundredths of a per cent of the devices of the plan.
    case share(hundredths: Int)

    /// Not one.
    package static let none = DriftTolerance.devices(0)

    /// `250`, `2%` or `0.5%`. Throws `plan.tolerance` (400).
    package init(_ text: String) throws(PushError) {
        let flaw = PushError(
            "plan.tolerance", "\"\(text.prefix(40))\" is no tolerance",
            hint: "say how many devices may have joined, left or changed, such as 250, or which share of the plan: 2% or 0.5%", status: 400)
        func digits(_ text: Substring) throws(PushError) -> Int {
            guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
                throw flaw
            }
            return number
        }
        guard text.hasSuffix("%") else {
            self = .devices(try digits(text[...]))
            return
        }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count) else { throw flaw }
        var hundredths = try digits(parts[0]) * 100
        if parts.count == 2 {
            guard parts[1].utf8.count <= 2 else { throw flaw }
            hundredths += try digits(parts[1]) * (parts[1].utf8.count == 1 ? 10 : 1)
        }
        guard hundredths <= 10_000 else { throw flaw }
        self = .share(hundredths: hundredths)
    }

    package var description: String {
        switch self {
        case .devices(let count): "\(count)"
        case .share(let hundredths):
            hundredths.isMultiple(of: 100) ? "\(hundredths / 100)%" : "\(hundredths / 100).\((hundredths % 100).padded(2))%"
        }
    }

    /// Of a plan of so many devices; a share is rounded down.
    package func most(of devices: Int) -> Int {
        switch self {
        case .devices(let count): count
        case .share(let hundredths): Int(Double(devices) * Double(hundredths) / 10_000)
        }
    }
}

/// The ids of a hub's plans: `p-0001`, counted.
package enum PlanID {
    package static func text(_ number: Int64) -> String { "p-\(Int(number).padded(4))" }

    /// Nil for a text that is no id of a plan.
    package static func number(of id: String) -> Int64? {
        guard id.hasPrefix("p-"), (1...18).contains(id.utf8.count - 2), id.utf8.dropFirst(2).allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(id.dropFirst(2)), number > 0, text(number) == id
        else { return nil }
        return number
    }
}

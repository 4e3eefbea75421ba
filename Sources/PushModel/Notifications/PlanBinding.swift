/// The plan that a notification refers to.
package struct PlanBinding: Sendable, Hashable {
    package var id: String
    /// How much the audience may have changed by the time the notification is accepted.
    package var tolerance: DriftTolerance

    package init(_ id: String, tolerance: DriftTolerance = .none) {
        self.id = id
        self.tolerance = tolerance
    }
}

/// The number of devices that may have joined, left or changed since a plan was made.
package enum DriftTolerance: Sendable, Hashable, CustomStringConvertible {
    case devices(Int)
    /// Share of the plan's devices, in hundredths of a percent.
    case share(hundredths: Int)

    /// No change is tolerated.
    package static let none = DriftTolerance.devices(0)

    /// Parses `250`, `2%` or `0.5%`. Throws `plan.tolerance` (400).
    package init(_ text: String) throws(PushError) {
        let flaw = PushError(
            "plan.tolerance", "invalid tolerance \"\(text.prefix(40))\"",
            hint: "give how many devices may have joined, left or changed (250), or which share of the plan (2% or 0.5%)", status: 400)
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

    /// The number of changed devices tolerated for a plan of this size. A share is rounded down.
    package func most(of devices: Int) -> Int {
        switch self {
        case .devices(let count): count
        case .share(let hundredths): Int(Double(devices) * Double(hundredths) / 10_000)
        }
    }
}

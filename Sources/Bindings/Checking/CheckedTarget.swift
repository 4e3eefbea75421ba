import PushCore

/// What a script that is checked is to run against.
package enum CheckedTarget: String, CaseIterable, Sendable {
    /// The world of a rehearsal, which has everything.
    case embedded
    /// A served hub without a lab.
    case pushhost
    /// Azure Notification Hubs, or what is like it.
    case azure

    /// Throws `usage.option`. What is no plain word may be a connection string with its key: it is not repeated.
    package init(named name: String) throws(PushError) {
        if let target = Self(rawValue: name) {
            self = target
            return
        }
        let hint = "--target takes embedded, pushhost and azure"
        guard name.utf8.allSatisfy(\.isPropertyCharacter), name.count <= 40 else {
            let isAddress = name.hasPrefix("http://") || name.hasPrefix("https://")
            throw PushError(
                "usage.option", "--target names a kind of target here, and no address: a check reaches for nothing",
                hint: "\(hint); write \(isAddress ? "pushhost" : "azure") for this one")
        }
        let near = nearest(name.lowercased(), in: Self.allCases.map(\.rawValue)).map { "; did you mean \"\($0)\"?" } ?? ""
        throw PushError("usage.option", "there is no kind of target \"\(name)\"\(near)", hint: hint)
    }

    /// Whether phones, push services, wires and the clock are simulated.
    var isSimulated: Bool { self == .embedded }
}

extension Remark {
    /// A call that a target cannot do; nil where it can.
    init?(absenceOf binding: Binding, on target: CheckedTarget, at range: Range<Int>) {
        if target == .azure, binding.name == Binding.trace.name {
            self.init(
                "target.unsupported", "\(binding.name) asks what a hub keeps of each device: Azure Notification Hubs does not tell it",
                hint: "push.outcome tells how many devices ended how", at: range)
            return
        }
        guard let feature = binding.needs, !target.isSimulated else { return nil }
        let what =
            switch feature {
            case .phones: "needs a simulated phone"
            case .faults: "needs simulated push services"
            case .wires: "needs wires that can be seen"
            case .clock: "needs a clock that can be moved"
            }
        self.init(
            "target.unsupported",
            "\(binding.name) \(what): \(target == .azure ? "Azure Notification Hubs" : "a served hub without a lab") has none",
            hint: "put it into push.rehearse(\"…\", function() … end), which is skipped there", at: range)
    }
}

package import PushModel

/// The kind of target that a script is checked for.
package enum CheckedTarget: String, CaseIterable, Sendable {
    /// The embedded target, which supports everything.
    case embedded
    /// A PushHost server without a lab.
    case pushhost
    /// Azure Notification Hubs, or a compatible hub.
    case azure

    /// Throws `usage.option`. Text that is not a plain word may be a connection string with its key, so the error does not repeat it.
    package init(named name: String) throws(PushError) {
        if let target = Self(rawValue: name) {
            self = target
            return
        }
        let hint = "--target must be embedded, pushhost or azure"
        guard name.utf8.allSatisfy(\.isPropertyCharacter), name.count <= 40 else {
            let isAddress = name.hasPrefix("http://") || name.hasPrefix("https://")
            throw PushError(
                "usage.option", "pushhost check needs a kind of target in --target, not an address: it makes no requests",
                hint: "\(hint); for this target write \(isAddress ? "pushhost" : "azure")")
        }
        let near = nearest(name.lowercased(), in: Self.allCases.map(\.rawValue)).map { "; did you mean \"\($0)\"?" } ?? ""
        throw PushError("usage.option", "unknown kind of target \"\(name)\"\(near)", hint: hint)
    }

    /// Whether devices, push services, requests and the clock are simulated.
    var isSimulated: Bool { self == .embedded }
}

extension SourceFinding {
    /// A finding for a call that the target does not support; nil if it does.
    init?(absenceOf binding: Binding, on target: CheckedTarget, at range: Range<Int>) {
        if target == .azure, binding.name == TraceBindings.trace.name {
            self.init(
                "target.unsupported", "\(binding.name) needs delivery results per device, which Azure Notification Hubs does not report",
                hint: "push.outcome has the number of devices by result", at: range)
            return
        }
        guard let feature = binding.conditions.needs, !target.isSimulated else { return nil }
        let what =
            switch feature {
            case .phones: "needs simulated devices"
            case .faults: "needs simulated push services"
            case .wires: "needs recorded requests to push services"
            case .clock: "needs a virtual clock"
            }
        self.init(
            "target.unsupported",
            "\(binding.name) \(what): \(target == .azure ? "Azure Notification Hubs" : "a served hub without a lab") has none",
            hint: "put it into push.rehearse(\"…\", function() … end), which is skipped there", at: range)
    }
}

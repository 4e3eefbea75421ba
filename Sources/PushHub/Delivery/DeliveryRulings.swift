import PushModel

/// The decisions of hooks about all platforms of a notification.
struct DeliveryRulings {
    /// Targets that do not get the notification, for one reason.
    struct Part {
        var outcome = OutcomeName.skipped
        /// Nil for duplicates.
        var cause: OutcomeCause?
        var members: [UInt32]

        func completed(_ member: UInt32, _ recipient: Recipient) -> CompletedTarget {
            guard let cause else { return CompletedTarget.skipped(member, recipient) }
            return CompletedTarget(
                order: Int(member),
                result: DeliveryResult(device: recipient.outcome(outcome, reason: Recipient.ruled, cause, size: 0)))
        }
    }

    private struct Refusal: Hashable {
        var outcome: OutcomeName
        var cause: OutcomeCause
    }

    private var refusals: [(refusal: Refusal, devices: RowSet)] = []
    /// Indices into `refusals`.
    private var indexes: [Refusal: Int] = [:]
    private var refused = RowSet()
    private var deferred = RowSet()
    private(set) var deferredDevices = DeferredDevices()

    /// - Parameter failure: the error of a failed hook; the devices without a decision are then abandoned.
    mutating func add(_ group: DeliveryGroup, _ failure: PushError?, isTest: Bool, now: Timestamp) {
        let (ruled, open) = group.close()
        for ruling in ruled {
            switch ruling.decision {
            case .pass: break
            // The remaining hooks have not seen these devices. They are asked when the deferral ends, which may be at once.
            case .hold(let time) where !isTest:
                let time = min(max(time, now + DeferredDevices.shortest), now + DeferredDevices.longest)
                deferredDevices.add(ruling.devices, on: group.platform, until: time, ruling.reason)
                deferred.formUnion(ruling.devices)
            // The sender of a test waits for the results, so nothing is deferred.
            case .hold, .skip: refuse(ruling.devices, .skipped, .ruled(ruling.reason))
            }
        }
        // Abandoned, not skipped: a failed hook is an error, not a decision.
        if let failure { refuse(open, .abandoned, .text(failure.message)) }
    }

    private mutating func refuse(_ devices: RowSet, _ outcome: OutcomeName, _ cause: OutcomeCause) {
        guard !devices.isEmpty else { return }
        refused.formUnion(devices)
        let refusal = Refusal(outcome: outcome, cause: cause)
        if let index = indexes[refusal] {
            refusals[index].devices.formUnion(devices)
        } else {
            indexes[refusal] = refusals.count
            refusals.append((refusal, devices))
        }
    }

    /// Removes refused and deferred devices from `targets`, and returns the refused ones. A duplicate is treated like its original.
    mutating func take(from targets: inout Targets) -> [Part] {
        guard !refused.isEmpty || !deferred.isEmpty else { return [] }
        var removed = refused
        removed.formUnion(deferred)
        let pairs = targets.take(removed)
        deferredDevices.duplicates = pairs.filter { deferred.contains($0.original) }.map(\.duplicate)
        let duplicates = pairs.filter { refused.contains($0.original) }.map(\.duplicate)
        if targets.direct != nil, !deferredDevices.isEmpty {
            // Reporting a duplicate handle would mark the original as done when the notification resumes.
            (deferredDevices.duplicates, targets.duplicates) = (targets.duplicates, [])
        }
        let parts = refusals.map { Part(outcome: $0.outcome, cause: $0.cause, members: $1.rows) }
        return duplicates.isEmpty ? parts : parts + [Part(members: duplicates)]
    }
}

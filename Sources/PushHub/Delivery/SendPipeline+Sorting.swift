import PushModel

// Assignment of browsers to push services. A browser's push service is known only once its registration is looked up.
extension SendPipeline {
    /// Queues the first attempts for browsers of a group in the lanes of their push services.
    func sort(_ members: [UInt32], of group: Int, in run: inout DeliveryRun, _ policy: DispatchPolicy, _ look: Looking) async {
        let recipients = await look(members, run.groups[group].recipients)
        var parts: [(origin: Substring, members: [UInt32])] = []
        var indexes: [Substring: Int] = [:]
        for (member, recipient) in zip(members, recipients) {
            // Removed registrations are reported in whatever batch they are in.
            let origin = PushService.origin(of: recipient.handle) ?? parts.first?.origin ?? ""
            if let index = indexes[origin] {
                parts[index].members.append(member)
            } else {
                indexes[origin] = parts.count
                parts.append((origin, [member]))
            }
        }
        var others: [UInt32] = []
        for (origin, members) in parts {
            let service = run.service(ofOrigin: origin)
            if service == .others { others += members } else { begin(group, members, of: service, in: &run, policy) }
        }
        begin(group, others, of: .others, in: &run, policy)
    }

    private func begin(_ group: Int, _ members: [UInt32], of service: PushService, in run: inout DeliveryRun, _ policy: DispatchPolicy) {
        run.begin(group, members, of: service, firstAttempt(of: service, policy, in: run))
    }

    /// When the first attempt starts: now, or at the retry time of a service that deferred devices in an earlier run.
    func firstAttempt(of service: PushService, _ policy: DispatchPolicy, in run: DeliveryRun) -> DeliveryRun.Start {
        // A service that shared a lane then may have its own now.
        let shared = service.origin == nil ? nil : policy.retryState?.services[.others]
        guard let wait = policy.retryState?.services[service] ?? shared else { return DeliveryRun.Start(time: environment.steady.now) }
        return DeliveryRun.Start(number: wait.number, time: wait.time, retryDeadline: retryDeadline(from: run.start, in: run))
    }
}

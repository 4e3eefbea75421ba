import PushModel

// Assignment of browsers to push services. A browser's push service is known only once its registration is looked up.
extension SendPipeline {
    /// Queues the first attempts for browsers of a group in the lanes of their push services.
    func sort(_ members: [UInt32], of group: Int, in run: inout DeliveryRun, _ manner: DispatchPolicy, _ look: Looking) async {
        let recipients = await look(members, run.groups[group].recipients)
        var parts: [(origin: Substring, members: [UInt32])] = []
        var places: [Substring: Int] = [:]
        for (member, recipient) in zip(members, recipients) {
            // Removed registrations are reported in whatever batch they are in.
            let origin = PushService.origin(of: recipient.handle) ?? parts.first?.origin ?? ""
            if let place = places[origin] {
                parts[place].members.append(member)
            } else {
                places[origin] = parts.count
                parts.append((origin, [member]))
            }
        }
        var others: [UInt32] = []
        for (origin, members) in parts {
            let service = run.service(ofOrigin: origin)
            if service == .others { others += members } else { begin(group, members, of: service, in: &run, manner) }
        }
        begin(group, others, of: .others, in: &run, manner)
    }

    private func begin(_ group: Int, _ members: [UInt32], of service: PushService, in run: inout DeliveryRun, _ manner: DispatchPolicy) {
        run.begin(group, members, of: service, firstAttempt(of: service, manner, in: run))
    }

    /// When the first attempt starts: now, or at the retry time of a service that deferred devices in an earlier run.
    func firstAttempt(of service: PushService, _ manner: DispatchPolicy, in run: DeliveryRun) -> DeliveryRun.Start {
        // A service that shared a lane then may have its own now.
        let shared = service.origin == nil ? nil : manner.patience?.services[.others]
        guard let wait = manner.patience?.services[service] ?? shared else { return DeliveryRun.Start(moment: environment.steady.now) }
        return DeliveryRun.Start(number: wait.number, moment: wait.moment, retryDeadline: retryDeadline(from: run.start, in: run))
    }
}

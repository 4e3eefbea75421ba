// Browsers have many push services, and which one a browser has is known when it is looked up.
extension SendPipeline {
    /// Gives browsers of a group their first attempts, in the lanes of their push services.
    func sort(_ members: [UInt32], of group: Int, in run: inout DeliveryRun, _ manner: Manner, _ look: Looking) async {
        let recipients = await look(members, run.groups[group].recipients)
        var parts: [(origin: Substring, members: [UInt32])] = []
        var places: [Substring: Int] = [:]
        for (member, recipient) in zip(members, recipients) {
            // Who has left is told so in whatever batch he comes.
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

    private func begin(_ group: Int, _ members: [UInt32], of service: PushService, in run: inout DeliveryRun, _ manner: Manner) {
        run.begin(group, members, of: service, firstAttempt(of: service, manner, in: run))
    }

    /// Now, or when the push service shall be asked again that has put off something before this run began.
    func firstAttempt(of service: PushService, _ manner: Manner, in run: DeliveryRun) -> DeliveryRun.Start {
        // Whoever shared a lane then may have one now.
        let shared = service.origin == nil ? nil : manner.patience?.services[.others]
        guard let wait = manner.patience?.services[service] ?? shared else { return DeliveryRun.Start(moment: environment.steady.now) }
        return DeliveryRun.Start(number: wait.number, moment: wait.moment, lastMoment: lastMoment(from: run.start, in: run))
    }
}

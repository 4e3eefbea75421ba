import PushModel

/// Assigns browsers to push services. A browser's push service is known only once its registration is looked up.
struct BrowserSorter: Sendable {
    let times: AttemptTimes
    let policy: SendPipeline.DispatchPolicy
    let look: RecipientLookup.Looking

    /// Queues the first attempts for browsers of a group in the lanes of their push services.
    func sort(_ members: [UInt32], of group: Int, in run: inout DeliveryRun) async {
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
            if service == .others { others += members } else { begin(group, members, of: service, in: &run) }
        }
        begin(group, others, of: .others, in: &run)
    }

    private func begin(_ group: Int, _ members: [UInt32], of service: PushService, in run: inout DeliveryRun) {
        run.begin(group, members, of: service, times.first(of: service, policy, in: run))
    }
}

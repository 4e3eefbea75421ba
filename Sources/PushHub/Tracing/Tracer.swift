import PushModel

/// Follows a notification to a device by the known facts, and explains where it ended.
struct Tracer {
    typealias Line = DeliveryTrace.Line

    /// The cause, and the values for its sentence.
    struct Conclusion {
        var cause: TraceCause
        var values: [String: String] = [:]

        init(_ cause: TraceCause, _ values: [String: String] = [:]) { (self.cause, self.values) = (cause, values) }
    }

    let facts: TraceFacts
    private var lines: [Line] = []

    static func trace(_ facts: TraceFacts) -> DeliveryTrace {
        var tracer = Tracer(facts: facts)
        tracer.addNotification()
        let conclusion = tracer.conclude()
        return tracer.trace(conclusion)
    }

    private init(facts: TraceFacts) { self.facts = facts }

    var device: TracedDevice { facts.device }
    var request: NotificationRequest { facts.stored.request }
    var outcome: NotificationOutcome { facts.stored.outcome }

    /// Name of the push service that reaches the device; "the push service" if unknown.
    var service: String { (facts.rows.last?.device.platform ?? device.platform)?.displayName ?? "the push service" }

    mutating func add(_ time: Timestamp?, _ step: DeliveryTrace.Step, _ text: String, isGood: Bool? = nil) {
        lines.append(Line(time: time, step: step, text: text, isGood: isGood))
    }

    /// Adds the line that explains the result.
    mutating func decide(_ time: Timestamp?, _ step: DeliveryTrace.Step, _ text: String, isGood: Bool? = false) {
        lines.append(Line(time: time, step: step, text: text, isGood: isGood, isCause: true))
    }

    private func trace(_ conclusion: Conclusion) -> DeliveryTrace {
        var values = ["device": device.name, "service": service, "sent": facts.sentAt.inSentence, "expression": audience]
        values.merge(conclusion.values) { $1 }
        return DeliveryTrace(
            device: device.name, platform: facts.rows.last?.device.platform ?? device.platform, lines: Self.inOrder(lines),
            cause: conclusion.cause, sentence: conclusion.cause.pattern.filled(values))
    }

    /// Sorts by time; a line without one follows the line before. A simulated phone may get a push before the service's answer is recorded.
    private static func inOrder(_ lines: [Line]) -> [Line] {
        var last: Timestamp?
        let timed = lines.enumerated().map { index, line in
            let time = line.time ?? last
            last = line.step == .phone ? max(time ?? .distantPast, last ?? .distantPast) : time
            return (time: last ?? .distantPast, index: index, line: line)
        }
        return timed.sorted { ($0.time, $0.index) < ($1.time, $1.index) }.map(\.line)
    }

    // MARK: - The notification

    /// Description of the audience for people.
    var audience: String {
        switch request.audience {
        case .everyone: "everyone"
        case .expression(let expression): "\"\(expression)\""
        case .device, .devices: Self.count(request.audience.handles.count, "device")
        }
    }

    private mutating func addNotification() {
        let kind = request.isTest ? "a test send " : ""
        let plan = request.plan.map { ", to the devices of the plan \($0.id)" } ?? ""
        add(outcome.enqueuedAt, .notification, "\(kind)accepted, for \(audience)\(plan)", isGood: true)
        if let due = outcome.scheduledFor, due > facts.now || outcome.startedAt == nil {
            add(outcome.enqueuedAt, .notification, "scheduled for \(due.inSentence)")
        }
        if let started = outcome.startedAt, started >= outcome.enqueuedAt + .seconds(1) {
            add(started, .notification, "sent", isGood: true)
        }
        for near in outcome.nearMisses { add(outcome.endedAt, .notification, "reached no device: \(near)", isGood: false) }
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    // MARK: - Conclusions

    private mutating func conclude() -> Conclusion {
        if let row = mainRow {
            addDevice(candidate(of: row))
            addTags(candidate(of: row), isAddressed: true)
            return verdict(of: row)
        }
        return absence()
    }

    /// The result of the registration that was asked for; otherwise, of a device's registrations, the one that got furthest.
    private var mainRow: RecordedOutcome? {
        if let asked = device.requestedID, let row = facts.rows.last(where: { $0.device.registrationID == asked }) { return row }
        func rank(_ row: RecordedOutcome) -> Int {
            switch row.device.outcome {
            case .success: 3
            case .skipped: row.device.cause == .duplicate ? 0 : 1
            default: 2
            }
        }
        return facts.rows.max { rank($0) < rank($1) }
    }

    func candidate(of row: RecordedOutcome) -> TraceFacts.Candidate? {
        facts.candidates.first { $0.registration.id == row.device.registrationID }
    }

    /// Whether tags, template and handle are unchanged since the send.
    func isAsSent(_ registration: Registration) -> Bool { registration.updatedAt <= facts.sentAt }

    mutating func addDevice(_ candidate: TraceFacts.Candidate?) {
        guard let registration = candidate?.registration else { return }
        let subject = registration.installationID.map { "installation \($0)" } ?? "registration \(registration.id)"
        let (platform, time) = (registration.platform.displayName, registration.updatedAt)
        if isAsSent(registration) {
            add(time, .device, "\(subject) registered with \(platform)", isGood: true)
        } else {
            let isNew = registration.etag == 1
            add(
                time, .device,
                "\(subject) \(isNew ? "registered" : "changed") after the send: tags and template below are the current ones")
        }
    }

    /// - Parameter isAddressed: whether the device was a target of the notification, whatever its tags are now.
    mutating func addTags(_ candidate: TraceFacts.Candidate?, isAddressed: Bool) {
        guard let expression = request.audience.expression else { return }
        guard let registration = candidate?.registration,
            !isAddressed || isAsSent(registration) && expression.matches(Set(registration.tags))
        else {
            if isAddressed { add(facts.sentAt, .tags, "\(expression): it was a target", isGood: true) }
            return
        }
        let findings = expression.explain(Set(registration.tags))
        let terms = findings.count > 1 ? findings.filter { $0.depth == 1 } : findings
        let marks = terms.prefix(8).map { "\($0.holds ? "✓" : "✗") \($0.text)" }.joined(separator: "  ")
        let holds = findings.first?.holds ?? true
        let text = terms.count > 1 ? "\(expression)   \(marks)" : marks
        let time = outcome.state == .scheduled ? facts.now : facts.sentAt
        if holds || outcome.state == .scheduled { add(time, .tags, text, isGood: holds) } else { decide(time, .tags, text) }
    }
}

// MARK: - Devices without a result

extension Tracer {
    /// Explains why there is no result: the device was not a target, is still waiting, or the reason is unknown.
    private mutating func absence() -> Conclusion {
        if outcome.state == .canceled, outcome.startedAt == nil { return cancelled() }
        let handles = request.audience.handles
        if !handles.isEmpty {
            guard device.handles.contains(where: handles.contains) else {
                let count = Self.count(handles.count, "device")
                decide(facts.sentAt, .tags, "sent directly to \(count), not to this one")
                return Conclusion(.notAddressed, ["count": count])
            }
            return outstanding(nil)
        }
        guard !device.registrations.isEmpty else { return unregistered() }
        if outcome.startedAt != nil, device.registrations.allSatisfy({ $0.registration.etag == 1 && !isAsSent($0.registration) }),
            let first = device.registrations.map(\.registration.updatedAt).min()
        {
            decide(first, .device, "registered after the send")
            return Conclusion(.registeredLater, ["registered": first.inSentence])
        }
        let best = facts.candidates.min { Self.distance($0) < Self.distance($1) }
        addDevice(best)
        addTags(best, isAddressed: false)
        if outcome.state == .scheduled { return planExclusion(best, among: facts.candidates) ?? outstanding(best) }
        if let conclusion = mismatch(best) { return conclusion }
        return planExclusion(best, among: facts.candidates.filter { $0.failure == nil && $0.fit == .fits }) ?? approvalExcess()
            ?? outstanding(best)
    }

    /// Explains a scheduled send that exceeded its approval when it was due; nil if it did not.
    private mutating func approvalExcess() -> Conclusion? {
        for case .exceededApproval(let reach, let approved) in outcome.notices {
            let count = Notice.devices(reach)
            decide(outcome.startedAt, .notification, "it would have reached \(count), more than \(approved.text)")
            return Conclusion(.audienceGrown, ["count": count, "allowed": approved.text])
        }
        return nil
    }

    /// Explains why a plan excludes the device; nil if it does not.
    private mutating func planExclusion(_ best: TraceFacts.Candidate?, among candidates: [TraceFacts.Candidate]) -> Conclusion? {
        guard let plan = facts.plan, let binding = request.plan else { return nil }
        let id = ["plan": binding.id]
        if let loss = outcome.notices.first(where: { $0 == .planLost(plan: binding.id) }) {
            decide(outcome.startedAt, .notification, loss.text)
            return Conclusion(.planLost, id)
        }
        guard case .stored(let madeAt, let members) = plan else {
            decide(facts.sentAt, .tags, "the plan \(binding.id) is no longer stored", isGood: nil)
            return Conclusion(.planForgotten, id)
        }
        guard !candidates.contains(where: { members.contains($0.registration.id) }), let registration = best?.registration else {
            return nil
        }
        let time = registration.updatedAt.inSentence
        let reason =
            registration.updatedAt <= madeAt
            ? "it did not match when the plan was made at \(madeAt.inSentence)"
            : registration.etag == 1
                ? "it joined at \(time), after the plan was made"
                : "it was changed at \(time), after the plan was made, and did not belong to it before"
        decide(facts.sentAt, .tags, "not in the plan \(binding.id) of \(madeAt.inSentence)")
        return Conclusion(.notInPlan, id.merging(["reason": reason]) { $1 })
    }

    private static func distance(_ candidate: TraceFacts.Candidate) -> Int {
        (candidate.failure == nil ? 0 : 10) + (candidate.fit == .fits ? 0 : candidate.fit == .wrongPlatform ? 1 : 2)
    }

    private mutating func mismatch(_ candidate: TraceFacts.Candidate?) -> Conclusion? {
        guard let candidate else { return nil }
        if let failure = candidate.failure {
            return Conclusion(failure.kind == .missing ? .tagMissing : .tagPresent, ["tag": failure.words])
        }
        let name = candidate.registration.platform.displayName
        switch candidate.fit {
        case .fits: return nil
        case .needsTemplate:
            decide(facts.sentAt, .kind, "properties were sent, and the registration has no template")
            return Conclusion(.needsTemplate)
        case .needsNative:
            let template = candidate.registration.template?.name.map { " \"\($0)\"" } ?? ""
            decide(facts.sentAt, .kind, "a native payload was sent, and the registration has the template\(template)")
            return Conclusion(.needsNative)
        case .wrongPlatform:
            decide(facts.sentAt, .kind, "there is no payload for \(name)")
            return Conclusion(.wrongPlatform, ["service": name])
        }
    }

    private mutating func unregistered() -> Conclusion {
        let left = device.deleted.first
        let pruned = device.pruned.first
        // A removal for an invalid handle explains more than a deletion.
        if let pruned, left.map({ $0.time <= pruned.time }) ?? true {
            decide(pruned.time, .device, "removed from the hub: \(service) answered \(pruned.reason)")
            return Conclusion(.tokenDead, ["time": pruned.time.inSentence, "reason": pruned.reason])
        }
        guard let left else {
            decide(nil, .device, device.installation == nil ? "not registered" : "its installation has no valid handle")
            return Conclusion(.notRegistered)
        }
        return deleted(left)
    }

    mutating func deleted(_ left: DeletedRegistration) -> Conclusion {
        let time = ["time": left.time.inSentence]
        decide(left.time, .device, "removed from the hub: \(left.tombstone.words)")
        if left.time > facts.sentAt, outcome.startedAt != nil, outcome.state.isFinal, facts.rows.isEmpty {
            return Conclusion(.registrationLeft, time)
        }
        switch left.tombstone.reason {
        case .expired: return Conclusion(.registrationExpired, time)
        case .deleted: return Conclusion(.registrationDeleted, time)
        case .installationChanged: return Conclusion(.registrationReplaced, time)
        case .invalidHandle(let report):
            return Conclusion(.tokenDead, time.merging(["reason": report.reason.isEmpty ? "no reason given" : report.reason]) { $1 })
        }
    }

    /// Explains a device that was or may have been a target and has no result.
    private mutating func outstanding(_ candidate: TraceFacts.Candidate?) -> Conclusion {
        let isChanged = candidate.map { !isAsSent($0.registration) } ?? false
        switch outcome.state {
        case .scheduled:
            let due = outcome.scheduledFor ?? facts.now
            decide(facts.now, .turn, "not due before \(due.inSentence)", isGood: nil)
            return Conclusion(.scheduled, ["time": due.inSentence])
        case .canceled: return cancelled()
        case .enqueued, .processing:
            if let hold = facts.hold {
                let (plugin, reason) = (Self.plugin(hold.reason), hold.reason.reason)
                decide(facts.now, .plugin, "deferred by \(plugin) until \(hold.until.inSentence): \(reason)", isGood: nil)
                return Conclusion(.held, ["plugin": plugin, "time": hold.until.inSentence, "reason": reason])
            }
            for issue in facts.issues where issue.platform == device.platform {
                guard case .openCircuit(_, let next, let block) = issue.kind else { continue }
                let finding = block.map { "rejects the hub's credential (\($0.reason))" } ?? "does not respond"
                decide(facts.now, .service, "\(service) \(finding); the next attempt is at \(next.inSentence)", isGood: nil)
                if let block {
                    return Conclusion(
                        .credentialBlocked, ["time": next.inSentence, "reason": block.reason, "explanation": block.explanation])
                }
                return Conclusion(.circuitOpen, ["time": next.inSentence])
            }
            if let pace = request.pace, let turn = facts.estimatedTime {
                decide(facts.now, .turn, "will be sent at about \(turn.inSentence), at \(pace.words)", isGood: nil)
                return Conclusion(.paced, ["pace": pace.words, "time": turn.inSentence])
            }
            decide(facts.now, .turn, "in progress, not yet sent to this device", isGood: nil)
            return Conclusion(.waiting)
        case .completed, .noTargetFound, .abandoned, .unknown, .detailedStateAvailable: break
        }
        if request.isTest, facts.matched > NotificationRequest.testSize {
            decide(facts.sentAt, .turn, "not among the ten chosen from \(facts.matched)")
            return Conclusion(.notDrawn, ["count": String(facts.matched)])
        }
        if isChanged, let candidate {
            decide(candidate.registration.updatedAt, .device, "changed after the send; its earlier state is not stored")
            return Conclusion(.tagsChanged, ["time": candidate.registration.updatedAt.inSentence])
        }
        decide(outcome.endedAt, .service, "no result is stored", isGood: nil)
        return Conclusion(.unexplained)
    }

    mutating func cancelled() -> Conclusion {
        let ended = outcome.endedAt ?? facts.now
        decide(ended, .notification, "cancelled")
        return Conclusion(.cancelled, ["time": ended.inSentence])
    }

    /// The name of the plugin that decided, after the words "The plugin".
    static func plugin(_ reason: HookReason) -> String { reason.plugin ?? "of the hub" }
}

extension Pace {
    /// Description for people, such as `200 devices a second`.
    fileprivate var words: String {
        let time =
            switch unit {
            case .second: "a second"
            case .minute: "a minute"
            case .hour: "an hour"
            }
        return "\(count) device\(count == 1 ? "" : "s") \(time)"
    }
}

extension RegistrationTombstone {
    fileprivate var words: String {
        switch reason {
        case .deleted: "the registration was deleted"
        case .expired: "the registration expired"
        case .installationChanged: "its installation was changed or deleted"
        case .invalidHandle(let report): report.text
        }
    }
}

extension Timestamp {
    fileprivate static let distantPast = Timestamp(milliseconds: .min)
}

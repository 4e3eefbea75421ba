import Lua
import PushCore
import Synchronization

// What a run sends, and what its phones show of it.
extension FlowRun {
    /// Counts a send for the step it belongs to; outside of steps it is told at once, with what the phones show. `advice` is what to do
    /// where it reaches no device.
    func note(_ outcome: NotificationOutcome, audience: String, site: LuaCallSite, advice: String? = nil) async {
        noteDevices(of: outcome)
        let send = send(outcome, audience: audience)
        state.withLock { $0.delivered += outcome.sent }
        if !report(send, task: site.task) {
            emit(.sent(send))
            let shown = await newlyShown()
            if !shown.isEmpty { emit(.shown(shown)) }
        }
        if outcome.state == .noTargetFound { warnOfNobody(outcome, audience: audience, location: site.location, advice: advice) }
    }

    /// Adds a send to the step that a task is in, as far as the budgets have room; false where it is in none.
    private func report(_ send: FlowSend, task: Int) -> Bool {
        let size = runner.detail.sizeInStep(of: send)
        return change(task: task) { step in
            guard account.admit(.output, size) else { return }
            account.note(.memory, HostCost.reportedSend + send.faults.reduce(0) { $0 + $1.utf8.count })
            step.sends.append(send)
        }
    }

    /// A notification as reports show it.
    private func send(_ outcome: NotificationOutcome, audience: String) -> FlowSend {
        let faults = outcome.devices.filter { $0.outcome != .success && $0.outcome != .skipped }.map { device in
            let name = deviceName(of: device.handle) ?? device.handle.abbreviated
            let reason = device.reason.isEmpty ? device.outcome.rawValue : device.reason
            return "\(name)  \(device.platform.displayName)  \(reason): \(device.explanation)"
        }
        return FlowSend(
            id: outcome.id, audience: audience, state: outcome.state.rawValue, sent: outcome.sent, failed: outcome.failed,
            total: outcome.total, faults: faults, skips: skips(outcome), notices: outcome.notices.map(\.text),
            scheduledFor: outcome.scheduledFor)
    }

    private func skips(_ outcome: NotificationOutcome) -> [FlowSkip] {
        var skips: [FlowSkip] = []
        for device in outcome.devices where device.outcome == .skipped {
            let reason = device.reason.isEmpty ? nil : device.explanation
            if let place = skips.firstIndex(where: { $0.reason == reason }) {
                skips[place].count += 1
            } else {
                skips.append(FlowSkip(count: 1, reason: reason))
            }
        }
        return skips
    }

    private func warnOfNobody(
        _ outcome: NotificationOutcome, audience: String, location: SourceLocation?, advice: String? = nil
    ) {
        state.withLock { state in
            state.noTargets += 1
            if state.firstNoTarget == nil { state.firstNoTarget = (audience, location) }
        }
        var near = outcome.nearMisses
        if outcome.tags != nil, ["everyone", "everybody", "all"].contains(audience.lowercased()) {
            near.append("push.everyone, without quotes, is the word for all devices")
        }
        if let advice { near.append(advice) }
        emit(
            .warning(
                FlowWarning(
                    code: "hub.no_target", message: "nobody matches \"\(audience)\": nothing was sent", near: near,
                    location: location)))
    }

    /// Notes what is to go out later; `settleSchedules` counts it when the run is over.
    func noteSchedule(_ outcome: NotificationOutcome, audience: String, site: LuaCallSite) async {
        account.note(.memory, HostCost.plannedNotification + audience.utf8.count)
        state.withLock { $0.planned.append(PlannedSends.Entry(id: outcome.id, audience: audience, location: site.location)) }
        let send = send(outcome, audience: audience)
        if !report(send, task: site.task) { emit(.sent(send)) }
    }

    /// A hub takes a moment that has passed to mean at once; mostly a year, a month or a time zone is wrong.
    func warnOfPast(_ outcome: NotificationOutcome, now: Timestamp, site: LuaCallSite) {
        guard let moment = outcome.scheduledFor else { return }
        let message =
            "\(outcome.id) was to be sent at \(moment.iso8601(fraction: false)), and it is \(now.iso8601(fraction: false)): it goes out at once"
        emit(.warning(FlowWarning(code: "schedule.past", message: message, near: [], location: site.location)))
    }

    func forgetSchedule(_ id: String) { state.withLock { $0.planned.remove(id) } }

    /// Waits until what is due has gone out; where a push service is slow that takes time, and more may become due. It ends with the
    /// budgets of the run. Each notification is asked for twice at most.
    func finishDueSchedules() async {
        guard world.target.isSimulated else { return }
        var due: [String] = []
        var later: [(time: Timestamp, id: String)] = []
        for planned in state.withLock({ $0.planned }).inOrder {
            guard mayGoOn else { return }
            guard let outcome = try? await world.hub.outcome(of: planned.id), !outcome.state.isFinal else { continue }
            if outcome.isDue(at: world.clock.now) {
                due.append(planned.id)
            } else if let time = outcome.scheduledFor {
                later.append((time, planned.id))
            }
        }
        // The last one is the next.
        later.sort { $0.time > $1.time }
        while !due.isEmpty {
            for id in due {
                guard mayGoOn else { return }
                await runner.thread.whileAffordable(account) { [hub = world.hub] in _ = try? await hub.finish(id) }
            }
            due = []
            while let next = later.last, next.time <= world.clock.now {
                later.removeLast()
                due.append(next.id)
            }
        }
    }

    /// Whether the run has neither been cancelled nor spent a budget.
    private var mayGoOn: Bool { !Task.isCancelled && account.mayGoOn }

    /// Counts what went out, and warns of what reached no device and, when the run is over, of what has not gone out yet. A run that spent
    /// a budget or was cancelled asks for so many at most.
    func settleSchedules(isOver: Bool = true) async {
        let planned = state.withLock { $0.planned }.inOrder
        for (place, entry) in planned.enumerated() {
            guard mayGoOn || place < Self.settledInClosing, outputAccount.mayGoOn else {
                // One line, which is told whatever is spent.
                if isOver { relay(.warning(unsettled(planned.count - place))) }
                return
            }
            guard let outcome = try? await world.hub.outcome(of: entry.id), isOver || outcome.state.isFinal else { continue }
            forgetSchedule(entry.id)
            state.withLock { $0.delivered += outcome.sent }
            emit(.settled(send(outcome, audience: entry.audience)))
            switch outcome.state {
            case .noTargetFound: warnOfNobody(outcome, audience: entry.audience, location: entry.location)
            case let state where !state.isFinal && world.target.isSimulated:
                emit(.warning(unsent(outcome, audience: entry.audience, location: entry.location)))
            default: break
            }
        }
    }

    private static let settledInClosing = 1_000

    private func unsettled(_ count: Int) -> FlowWarning {
        let rest = world.target.isSimulated && !world.target.outlivesRuns ? "were never sent" : "stay scheduled in the hub"
        return FlowWarning(
            code: "schedule.unsettled",
            message:
                "\(count) more scheduled notifications are left out of the report: the run is over its budget; those not sent yet \(rest)",
            near: [], location: nil)
    }

    private func unsent(_ outcome: NotificationOutcome, audience: String, location: SourceLocation?) -> FlowWarning {
        let (id, moment) = (outcome.id, outcome.scheduledFor?.description)
        guard world.target.outlivesRuns else {
            let message = "\(id) to \"\(audience)\" was never sent: the run ended before \(moment ?? "its time")"
            return FlowWarning(code: "schedule.unsent", message: message, near: [], location: location)
        }
        let message =
            "\(id) to \"\(audience)\" stays scheduled in the hub: the run ended before \(moment ?? "its time"), when it reaches whoever is "
            + "registered then; pushhost notification cancel \(id) at the server takes it back"
        return FlowWarning(code: "schedule.left", message: message, near: [], location: location)
    }

    /// What the phones have shown since this was last asked.
    func newlyShown() async -> [ShownItem] {
        guard let lab = world.lab else { return [] }
        let since = seen.count.withLock { $0 }
        let events = await lab.events(since: since)
        seen.count.withLock { $0 = max($0, since + events.count) }
        var shown: [ShownItem] = []
        for event in events where event.kind == "shown" {
            guard let device = try? await lab.device(event.device) else { continue }
            shown.append(
                ShownItem(
                    device: device.name, platform: device.platform, locale: device.locale, text: event.text,
                    time: event.time))
        }
        return shown
    }
}

extension NotificationOutcome.State {
    fileprivate var isFinal: Bool { ![.enqueued, .scheduled, .processing].contains(self) }
}

extension NotificationOutcome {
    /// It has not ended, and nothing but the push services keeps it.
    fileprivate func isDue(at now: Timestamp) -> Bool {
        state == .scheduled ? scheduledFor.map { $0 <= now } ?? false : !state.isFinal
    }
}

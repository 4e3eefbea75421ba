import Lua
import PushModel
import Synchronization

/// Reports the sends of a run, and the notifications that its devices show.
struct SendReporter {
    let run: FlowRun

    private var world: FlowWorld { run.world }

    /// Adds a send to the current step. Outside of steps it is reported at once, with what the devices show. `advice` is a hint for a send
    /// that reaches no device.
    func note(_ outcome: NotificationOutcome, audience: String, site: LuaCallSite, advice: String? = nil) async {
        run.chargeDevices(of: outcome)
        let send = send(outcome, audience: audience)
        run.state.withLock { $0.sends.delivered += outcome.sent }
        if !report(send, task: site.task) {
            run.emit(.sent(send))
            let shown = await takeShownItems()
            if !shown.isEmpty { run.emit(.shown(shown)) }
        }
        if outcome.state == .noTargetFound { warnOfNoTarget(outcome, audience: audience, location: site.location, advice: advice) }
    }

    /// Adds a send to the task's current step, within the budgets. Returns false if the task is in no step.
    private func report(_ send: FlowSend, task: Int) -> Bool {
        let size = run.runner.detail.sizeInStep(of: send)
        return run.change(task: task) { step in
            guard run.account.admit(.output, size) else { return }
            if run.runner.detail == .full { run.account.note(.memory, 3 * size) }
            run.account.note(.memory, HostCost.reportedSend + send.faults.reduce(send.audience.utf8.count) { $0 + $1.utf8.count })
            step.sends.append(send)
        }
    }

    /// The notification in the form of reports.
    private func send(_ outcome: NotificationOutcome, audience: String) -> FlowSend {
        let faults = outcome.devices.filter { $0.outcome != .success && $0.outcome != .skipped }.map { device in
            let name = run.deviceName(of: device.handle) ?? device.handle.abbreviated
            let reason = device.reason.isEmpty ? device.outcome.rawValue : device.reason
            return "\(name)  \(device.platform.displayName)  \(reason): \(device.explanation)"
        }
        return FlowSend(
            id: outcome.id, audience: audience, state: outcome.state.rawValue,
            counts: FlowSend.Counts(sent: outcome.sent, failed: outcome.failed, total: outcome.total), faults: faults,
            skips: skips(outcome), notices: outcome.notices.map(\.text),
            scheduledFor: outcome.scheduledFor)
    }

    private func skips(_ outcome: NotificationOutcome) -> [FlowSkip] {
        var skips: [FlowSkip] = []
        for device in outcome.devices where device.outcome == .skipped {
            let reason = device.reason.isEmpty ? nil : device.explanation
            if let index = skips.firstIndex(where: { $0.reason == reason }) {
                skips[index].count += 1
            } else {
                skips.append(FlowSkip(count: 1, reason: reason))
            }
        }
        return skips
    }

    private func warnOfNoTarget(
        _ outcome: NotificationOutcome, audience: String, location: SourceLocation?, advice: String? = nil
    ) {
        run.state.withLock { $0.sends.noteNoTarget(audience, location) }
        var near = outcome.nearMisses
        if outcome.tags != nil, ["everyone", "everybody", "all"].contains(audience.lowercased()) {
            near.append("to send to all devices, write push.everyone without quotes")
        }
        if let advice { near.append(advice) }
        run.emit(
            .warning(
                FlowWarning(
                    code: "hub.no_target", message: "no device matches \"\(audience)\"; nothing was sent", near: near,
                    location: location)))
    }

    /// Records a scheduled send. `countScheduled` counts it at the end of the run.
    func recordScheduled(_ outcome: NotificationOutcome, audience: String, site: LuaCallSite) async {
        run.account.note(.memory, HostCost.plannedNotification + audience.utf8.count)
        run.state.withLock { $0.sends.planned.append(PlannedSends.Entry(id: outcome.id, audience: audience, location: site.location)) }
        let send = send(outcome, audience: audience)
        if !report(send, task: site.task) { run.emit(.sent(send)) }
    }

    /// Warns of a due time in the past, which the hub sends at once. Often the year, month or time zone is wrong.
    func warnOfPastDueTime(_ outcome: NotificationOutcome, now: Timestamp, site: LuaCallSite) {
        guard let dueTime = outcome.scheduledFor else { return }
        let message =
            "the due time of \(outcome.id), \(dueTime.iso8601(fraction: false)), is before the current time \(now.iso8601(fraction: false)); it is sent at once"
        run.emit(.warning(FlowWarning(code: "schedule.past", message: message, near: [], location: site.location)))
    }

    func removeScheduled(_ id: String) { run.state.withLock { $0.sends.planned.remove(id) } }

    /// Waits until all due sends have gone out, within the budgets of the run. More sends may become due while push services are slow.
    /// Queries each notification at most twice.
    func awaitDueSends() async {
        guard world.target.isSimulated else { return }
        var due: [String] = []
        var later: [(time: Timestamp, id: String)] = []
        for planned in run.state.withLock({ $0.sends.planned }).inOrder {
            guard canContinue else { return }
            guard let outcome = try? await world.hub.outcome(of: planned.id), !outcome.state.isFinal else { continue }
            if outcome.isDue(at: world.clock.now) {
                due.append(planned.id)
            } else if let time = outcome.scheduledFor {
                later.append((time, planned.id))
            }
        }
        // Sorted so that the next one is last.
        later.sort { $0.time > $1.time }
        while !due.isEmpty {
            for id in due {
                guard canContinue else { return }
                await run.runner.thread.whileWithinBudget(run.account) { [hub = world.hub] in _ = try? await hub.finish(id) }
            }
            due = []
            while let next = later.last, next.time <= world.clock.now {
                later.removeLast()
                due.append(next.id)
            }
        }
    }

    /// Whether the run is not cancelled and within its budgets.
    private var canContinue: Bool { !Task.isCancelled && run.account.canContinue }

    /// Counts completed scheduled sends and warns if one reached no device. At the end of the run it also warns of unsent ones. A run that
    /// exceeded a budget or was cancelled queries only a limited number.
    func countScheduled(isOver: Bool = true) async {
        let planned = run.state.withLock { $0.sends.planned }.inOrder
        for (index, entry) in planned.enumerated() {
            guard canContinue || index < Self.maximumClosingQueries, run.outputAccount.canContinue else {
                // A single line, reported regardless of the budgets.
                if isOver { run.relay(.warning(unsettled(planned.count - index))) }
                return
            }
            guard let outcome = try? await world.hub.outcome(of: entry.id), isOver || outcome.state.isFinal else { continue }
            removeScheduled(entry.id)
            run.state.withLock { $0.sends.delivered += outcome.sent }
            run.emit(.completed(send(outcome, audience: entry.audience)))
            switch outcome.state {
            case .noTargetFound: warnOfNoTarget(outcome, audience: entry.audience, location: entry.location)
            case let state where !state.isFinal && world.target.isSimulated:
                run.emit(.warning(unsent(outcome, audience: entry.audience, location: entry.location)))
            default: break
            }
        }
    }

    private static let maximumClosingQueries = 1_000

    private func unsettled(_ count: Int) -> FlowWarning {
        let rest = world.target.isSimulated && !world.target.outlivesRuns ? "were not sent" : "remain scheduled in the hub"
        return FlowWarning(
            code: "schedule.unsettled",
            message:
                "the report omits \(count) more scheduled notifications, because the run exceeded its budget; those not sent yet \(rest)",
            near: [], location: nil)
    }

    private func unsent(_ outcome: NotificationOutcome, audience: String, location: SourceLocation?) -> FlowWarning {
        let (id, dueTime) = (outcome.id, outcome.scheduledFor?.description)
        guard world.target.outlivesRuns else {
            let message = "\(id) to \"\(audience)\" was not sent: the run ended before \(dueTime ?? "its due time")"
            return FlowWarning(code: "schedule.unsent", message: message, near: [], location: location)
        }
        let message =
            "\(id) to \"\(audience)\" remains scheduled in the hub: the run ended before \(dueTime ?? "its due time"), when it is sent to the devices "
            + "registered then; to cancel it, run pushhost notification cancel \(id) on the server"
        return FlowWarning(code: "schedule.left", message: message, near: [], location: location)
    }

    /// The notifications that devices have shown since the last call.
    func takeShownItems() async -> [ShownItem] {
        guard let lab = world.lab else { return [] }
        let since = run.shownEvents.count.withLock { $0 }
        let events = await lab.events(since: since)
        run.shownEvents.count.withLock { $0 = max($0, since + events.count) }
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
    /// Whether the notification is past its due time and has not ended.
    fileprivate func isDue(at now: Timestamp) -> Bool {
        state == .scheduled ? scheduledFor.map { $0 <= now } ?? false : !state.isFinal
    }
}

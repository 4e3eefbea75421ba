import Lua
import PushCore
import Synchronization

// What a run sends, and what its phones show of it.
extension FlowRun {
    /// Counts a send for the step it belongs to; outside of steps it is told at once, with what the phones show. `advice` is what to do
    /// where it reaches no device.
    func note(_ outcome: NotificationOutcome, audience: String, site: LuaCallSite, advice: String? = nil) async {
        let send = send(outcome, audience: audience)
        state.withLock { $0.delivered += outcome.sent }
        if !change(task: site.task, { $0.sends.append(send) }) {
            emit(.sent(send))
            let shown = await newlyShown()
            if !shown.isEmpty { emit(.shown(shown)) }
        }
        if outcome.state == .noTargetFound { warnOfNobody(outcome, audience: audience, location: site.location, advice: advice) }
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
            total: outcome.total, faults: faults, skips: skips(outcome), notices: outcome.notices, scheduledFor: outcome.scheduledFor)
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
        state.withLock { $0.planned.append((outcome.id, audience, site.location)) }
        let send = send(outcome, audience: audience)
        if !change(task: site.task, { $0.sends.append(send) }) { emit(.sent(send)) }
    }

    /// A hub takes a moment that has passed to mean at once; mostly a year, a month or a time zone is wrong.
    func warnOfPast(_ outcome: NotificationOutcome, now: Timestamp, site: LuaCallSite) {
        guard let moment = outcome.scheduledFor else { return }
        let message =
            "\(outcome.id) was to be sent at \(moment.iso8601(fraction: false)), and it is \(now.iso8601(fraction: false)): it goes out at once"
        emit(.warning(FlowWarning(code: "schedule.past", message: message, near: [], location: site.location)))
    }

    func forgetSchedule(_ id: String) { state.withLock { $0.planned.removeAll { $0.id == id } } }

    /// Waits until what is due has gone out; where a push service is slow that takes time, and more may become due.
    func finishDueSchedules() async {
        guard world.target.isSimulated else { return }
        var hasFinished = true
        while hasFinished, !Task.isCancelled {
            hasFinished = false
            for (id, _, _) in state.withLock({ $0.planned }) {
                guard let outcome = try? await world.hub.outcome(of: id), outcome.isDue(at: world.clock.now) else { continue }
                hasFinished = (try? await world.hub.finish(id))?.state.isFinal == true || hasFinished
            }
        }
    }

    /// Counts what went out, and warns of what reached nobody and, when the run is over, of what has not gone out yet.
    func settleSchedules(isOver: Bool = true) async {
        for (id, audience, location) in state.withLock({ $0.planned }) {
            guard let outcome = try? await world.hub.outcome(of: id), isOver || outcome.state.isFinal else { continue }
            forgetSchedule(id)
            state.withLock { $0.delivered += outcome.sent }
            emit(.settled(send(outcome, audience: audience)))
            switch outcome.state {
            case .noTargetFound: warnOfNobody(outcome, audience: audience, location: location)
            case let state where !state.isFinal && world.target.isSimulated:
                emit(.warning(unsent(outcome, audience: audience, location: location)))
            default: break
            }
        }
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

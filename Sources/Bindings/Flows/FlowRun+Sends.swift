import Lua
import PushCore
import Synchronization

// What a run sends, and what its phones show of it.
extension FlowRun {
    /// Counts a send for the step it belongs to; outside of steps it is told at once, with what the phones show.
    func note(_ outcome: NotificationOutcome, audience: String, call: LuaCall) async {
        let faults = outcome.devices.filter { $0.outcome != .success }.map { device in
            let name = deviceName(of: device.handle) ?? device.handle.abbreviated
            let reason = device.reason.isEmpty ? device.outcome.rawValue : device.reason
            return "\(name)  \(device.platform.displayName)  \(reason): \(device.explanation)"
        }
        let send = FlowSend(
            id: outcome.id, audience: audience, state: outcome.state.rawValue, sent: outcome.sent, failed: outcome.failed,
            total: outcome.devices.count, faults: faults)
        state.withLock { $0.delivered += outcome.sent }
        if !change(task: call.task, { $0.sends.append(send) }) {
            emit(.sent(send))
            let shown = await newlyShown()
            if !shown.isEmpty { emit(.shown(shown)) }
        }
        if outcome.state == .noTargetFound { warnOfNobody(outcome, audience: audience, location: call.location) }
    }

    private func warnOfNobody(_ outcome: NotificationOutcome, audience: String, location: SourceLocation?) {
        state.withLock { $0.noTargets += 1 }
        var near = outcome.nearMisses
        if outcome.tags != nil, ["everyone", "everybody", "all"].contains(audience.lowercased()) {
            near.append("push.everyone, without quotes, is the word for all devices")
        }
        emit(
            .warning(
                FlowWarning(
                    code: "hub.no_target", message: "nobody matches \"\(audience)\": nothing was sent", near: near,
                    location: location)))
    }

    /// Notes what is to go out later; `settleSchedules` counts it when the run is over.
    func noteSchedule(_ outcome: NotificationOutcome, audience: String, call: LuaCall) async {
        state.withLock { $0.planned.append((outcome.id, audience, call.location)) }
        let send = FlowSend(
            id: outcome.id, audience: audience, state: outcome.state.rawValue, sent: 0, failed: 0, total: 0, faults: [],
            scheduledFor: outcome.scheduledFor)
        if !change(task: call.task, { $0.sends.append(send) }) { emit(.sent(send)) }
    }

    func forgetSchedule(_ id: String) { state.withLock { $0.planned.removeAll { $0.id == id } } }

    /// Counts what went out, and warns of what reached nobody and, when the run is over, of what has not gone out yet.
    func settleSchedules(isOver: Bool = true) async {
        for (id, audience, location) in state.withLock({ $0.planned }) {
            guard let outcome = try? await world.hub.outcome(of: id), isOver || outcome.state.isFinal else { continue }
            forgetSchedule(id)
            state.withLock { $0.delivered += outcome.sent }
            switch outcome.state {
            case .noTargetFound: warnOfNobody(outcome, audience: audience, location: location)
            case .scheduled where world.target.isSimulated:
                let message =
                    "\(id) to \"\(audience)\" was never sent: the run ended before \(outcome.scheduledFor?.description ?? "its time")"
                emit(.warning(FlowWarning(code: "schedule.unsent", message: message, near: [], location: location)))
            default: break
            }
        }
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

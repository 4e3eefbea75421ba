// What happens in hubs.
extension FlowDispatcher {
    /// Events that are looked at in one step.
    private static let eventStep = 100

    /// Hubs keep what some flow is started by, and nothing else.
    func listen() {
        let kinds = flows.values.reduce(into: Set()) { $0.formUnion($1.events) }
        let start = start
        events.want(kinds) { [weak self] in
            guard let self else { return }
            _ = start { await self.takeEvents() }
        }
    }

    /// Has flows start for what has happened. Of a flow that has no room for more runs it is waited for: nothing is dropped.
    package func takeEvents() async {
        guard !isStopping else { return }
        hasMoreEvents = true
        guard !isTakingEvents else { return }
        isTakingEvents = true
        defer { isTakingEvents = false }
        while hasMoreEvents, !isStopping {
            hasMoreEvents = false
            do throws(PushError) {
                let found = try await store.events(limit: Self.eventStep)
                guard !found.isEmpty else { continue }
                let (drafts, last) = drafts(for: found)
                guard let last else {
                    // Somebody's end makes room.
                    hasMoreEvents = true
                    return
                }
                let added = try await add(drafts, RunCause(events: last))
                enqueue(added.filter { !$0.isRepeated }.map(\.run))
                hasMoreEvents = true
            } catch {
                tell(FlowNews(level: .error, flow: "", text: "what happened in the hubs is not looked at yet: \(error.message)"))
                try? await clock.sleep(until: clock.now + Self.pause)
                hasMoreEvents = true
            }
        }
    }

    /// The runs that events start, and the number of the last event for which there is room; nil for none.
    private func drafts(for events: [HubEvent]) -> (runs: [RunRecord], last: Int64?) {
        var (runs, last, ahead) = ([RunRecord](), Int64?.none, [String: Int]())
        for event in events {
            // Of what a flow has done itself it does not hear: it would go on for ever.
            let meant = served.filter { $0.events.contains(event.kind) && !event.origin.contains($0.origin) }
            guard
                meant.allSatisfy({ flow in
                    queue.count { $0.flow == flow.name } + ahead[flow.name, default: 0] < Self.queueLimit
                })
            else { break }
            for flow in meant {
                runs.append(
                    draft(
                        of: flow, .event(event.kind, hub: event.hub), keptArguments(of: flow, event.given), key: "event \(event.number)",
                        origin: event.origin, ahead: ahead[flow.name, default: 0]))
                ahead[flow.name, default: 0] += 1
            }
            last = event.number
        }
        return (runs, last)
    }
}

extension ServedFlow {
    /// What stands for it among those on whose behalf something is done; no plugin has such a name.
    package var origin: String { "flow:\(name)" }
}

extension HubEvent {
    /// What a flow may be given of it.
    fileprivate var given: JSONObject {
        var given: JSONObject = [
            "event": .string(kind.rawValue), "hub_name": .string(hub), "time": .string(time.iso8601(fraction: true)),
        ]
        for (name, value) in facts.members { given[name] = value }
        return given
    }
}

import PushModel

// Starting flows from hub events.
extension FlowDispatcher {
    /// Number of events processed per batch.
    private static let eventBatchSize = 100

    /// Subscribes to the event kinds that start some flow. Hubs record no other kinds.
    func listen() {
        let kinds = flows.values.reduce(into: Set()) { $0.formUnion($1.events) }
        let start = start
        events.want(kinds) { [weak self] in
            guard let self else { return }
            _ = start { await self.takeEvents() }
        }
    }

    /// Starts the flows for recorded events. If a flow's queue is full, processing pauses until a run ends; no event is dropped.
    package func takeEvents() async {
        guard !isStopping else { return }
        hasMoreEvents = true
        guard !isProcessingEvents else { return }
        isProcessingEvents = true
        defer { isProcessingEvents = false }
        while hasMoreEvents, !isStopping {
            hasMoreEvents = false
            do throws(PushError) {
                let found = try await store.events(limit: Self.eventBatchSize)
                guard !found.isEmpty else { continue }
                let (drafts, last) = drafts(for: found)
                guard let last else {
                    // Continued by `pump()` when a run ends.
                    hasMoreEvents = true
                    return
                }
                let added = try await add(drafts, RunCause(events: last))
                enqueue(added.filter { !$0.isRepeated }.map(\.run))
                hasMoreEvents = true
            } catch {
                tell(FlowLogEntry(level: .error, flow: "", text: "cannot process hub events: \(error.message); retrying"))
                try? await clock.sleep(until: clock.now + Self.pause)
                hasMoreEvents = true
            }
        }
    }

    /// The runs that the events start, and the number of the last event whose runs fit into the queues; nil if none fits.
    private func drafts(for events: [HubEvent]) -> (runs: [RunRecord], last: Int64?) {
        var (runs, last, ahead) = ([RunRecord](), Int64?.none, [String: Int]())
        for event in events {
            // A flow is not started by events that it caused itself, to prevent endless loops.
            let meant = served.filter { $0.events.contains(event.kind) && !event.origin.contains($0.origin) }
            guard
                meant.allSatisfy({ flow in
                    queue.count { $0.flow == flow.name } + ahead[flow.name, default: 0] < Self.queueLimit
                })
            else { break }
            for flow in meant {
                runs.append(
                    draft(
                        of: flow, .event(event.kind, hub: event.hub), storableArguments(of: flow, event.given),
                        key: "event \(event.number)",
                        origin: event.origin, ahead: ahead[flow.name, default: 0]))
                ahead[flow.name, default: 0] += 1
            }
            last = event.number
        }
        return (runs, last)
    }
}

extension ServedFlow {
    /// The flow's entry in the `origin` of events and runs. The colon distinguishes it from plugin names.
    package var origin: String { "flow:\(name)" }
}

extension HubEvent {
    /// The arguments that a flow may receive from this event.
    fileprivate var given: JSONObject {
        var given: JSONObject = [
            "event": .string(kind.rawValue), "hub_name": .string(hub), "time": .string(time.iso8601(fraction: true)),
        ]
        for (name, value) in facts.members { given[name] = value }
        return given
    }
}

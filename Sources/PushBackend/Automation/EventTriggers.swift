import PushModel

/// Starts flows from hub events. Part of the dispatcher's state.
final class EventTriggers {
    /// Number of events processed per batch.
    private static let batchSize = 100

    private let catalog: FlowCatalog
    private let pool: RunPool
    private let clock: any HubClock
    private let log: FlowLog
    private var isProcessing = false
    private var hasMore = false

    init(catalog: FlowCatalog, pool: RunPool, clock: any HubClock, log: FlowLog) {
        self.catalog = catalog
        self.pool = pool
        self.clock = clock
        self.log = log
    }

    /// Whether processing has paused until a run ends.
    var isPaused: Bool { hasMore && !isProcessing }

    /// Starts the flows for recorded events. If a flow's queue is full, processing pauses until a run ends; no event is dropped.
    func process(on dispatcher: isolated FlowDispatcher) async {
        guard !pool.isStopping else { return }
        hasMore = true
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        while hasMore, !pool.isStopping {
            hasMore = false
            do throws(PushError) {
                let found = try await pool.store.events(limit: Self.batchSize)
                guard !found.isEmpty else { continue }
                let (drafts, last) = drafts(for: found)
                guard let last else {
                    // Continued when a run ends.
                    hasMore = true
                    return
                }
                let added = try await pool.add(drafts, RunCause(events: last))
                pool.enqueue(added.filter { !$0.isRepeated }.map(\.run), on: dispatcher)
                hasMore = true
            } catch {
                log.note(.error, flow: "", "cannot process hub events: \(error.message); retrying")
                try? await clock.sleep(until: clock.now + RunPool.pause)
                hasMore = true
            }
        }
    }

    /// The runs that the events start, and the number of the last event whose runs fit into the queues; nil if none fits.
    private func drafts(for events: [HubEvent]) -> (runs: [RunRecord], last: Int64?) {
        var (runs, last, ahead) = ([RunRecord](), Int64?.none, [String: Int]())
        for event in events {
            let flows = catalog.flows(startedBy: event)
            guard flows.allSatisfy({ pool.canQueue($0, ahead: ahead[$0.name, default: 0]) }) else { break }
            for flow in flows {
                let origin = RunOrigin(
                    .event(event.kind, hub: event.hub), key: "event \(event.number)",
                    arguments: catalog.storableArguments(of: flow, event.given), causes: event.origin)
                runs.append(pool.draft(of: flow, origin, ahead: ahead[flow.name, default: 0]))
                ahead[flow.name, default: 0] += 1
            }
            last = event.number
        }
        return (runs, last)
    }
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

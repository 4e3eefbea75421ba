import PushCore
import Synchronization

/// Flows without scripts: what they were started with, and when each ends.
package final class ScriptedFlows: FlowExecutor {
    package struct Start: Sendable, Equatable {
        package var flow: String
        package var run: String
        package var arguments: JSONObject
        package var attempt: Int
    }

    private struct State {
        var starts: [Start] = []
        var ends: [String] = []
        /// Flows whose runs wait until they are let go.
        var held: Set<String> = []
        var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
        var failures: [String: RunReport.Failure] = [:]
        var secrets: [String: [String]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// In the order in which they began.
    package var starts: [Start] { state.withLock { $0.starts } }
    /// The flows of those that came to their end, in this order.
    package var ends: [String] { state.withLock { $0.ends } }

    package func starts(of flow: String) -> Int { starts.count { $0.flow == flow } }

    /// From now on runs of a flow wait to be let go.
    package func hold(_ flow: String) { state.withLock { _ = $0.held.insert(flow) } }

    package func letGo(_ flow: String) {
        let waiting = state.withLock { state in
            state.held.remove(flow)
            return state.waiting.removeValue(forKey: flow) ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// From now on runs of a flow fail.
    package func fail(_ flow: String, _ failure: RunReport.Failure) { state.withLock { $0.failures[flow] = failure } }

    /// Arguments of a flow that are secret.
    package func setSecrets(_ names: [String], of flow: String) { state.withLock { $0.secrets[flow] = names } }

    package func parameters(of flow: ServedFlow) -> FlowDescription {
        let secrets = state.withLock { $0.secrets[flow.name] ?? [] }
        let properties = JSONObject(secrets.map { ($0, ["type": "string", "writeOnly": true] as JSON) })
        return FlowDescription(version: "abc123", summary: "A flow", schema: ["type": "object", "properties": .object(properties)])
    }

    /// Everything but an argument that is named bad, which may be left out.
    package func check(_ arguments: JSONObject, for flow: ServedFlow, takingWhatFits: Bool) throws(PushError) -> CheckedArguments {
        var arguments = arguments
        if takingWhatFits { arguments["bad"] = nil }
        guard arguments["bad"] == nil else {
            throw PushError("args.invalid", "the flow has no argument \"bad\"", hint: "leave it out", status: 400)
        }
        return CheckedArguments(values: arguments, secrets: state.withLock { $0.secrets[flow.name] ?? [] })
    }

    package func run(_ order: RunOrder, progress: @escaping @Sendable (RunProgress) -> Void) async -> RunEnd {
        progress(.began(version: "abc123"))
        let moment = order.run.startedAt ?? order.run.queuedAt
        state.withLock {
            $0.starts.append(
                Start(flow: order.flow.name, run: order.run.id, arguments: order.arguments, attempt: order.run.attempts))
        }
        progress(.line(RunReport.Line(time: moment, level: "info", text: "hello")))
        await held(order.flow.name)
        if Task.isCancelled { return RunEnd(state: .cancelled) }
        progress(
            .step(
                RunReport.Step(name: "send", depth: 0, status: "passed", began: moment, ended: moment, notifications: ["n-\(order.run.id)"])
            ))
        let failure = state.withLock { state in
            state.ends.append(order.flow.name)
            return state.failures[order.flow.name]
        }
        if let failure { return RunEnd(state: .failed, failure: failure) }
        return RunEnd(state: .completed, result: .object(order.arguments))
    }

    private func held(_ flow: String) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isHeld = state.withLock { state in
                    guard state.held.contains(flow), !Task.isCancelled else { return false }
                    state.waiting[flow, default: []].append(continuation)
                    return true
                }
                if !isHeld { continuation.resume() }
            }
        } onCancel: {
            // Of several that wait all look whether it is they.
            let waiting = state.withLock { $0.waiting.removeValue(forKey: flow) ?? [] }
            for continuation in waiting { continuation.resume() }
        }
        if !Task.isCancelled, state.withLock({ $0.held.contains(flow) }) { await held(flow) }
    }
}

/// Knows no zone but UTC.
package struct OnlyUTC: TimeZoneSource {
    package init() {}

    package var names: [String] { ["UTC"] }

    package func rules(of name: String) throws(PushError) -> TimeZoneRules {
        guard name == "UTC" else { throw unknown(name) }
        return .utc
    }
}

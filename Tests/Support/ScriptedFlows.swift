package import PushModel
import Synchronization

/// Flows without scripts. Records what they were started with, and controls when each ends.
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
        /// Flows whose runs wait until `letGo` is called.
        var held: Set<String> = []
        var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
        var failures: [String: RunReport.Failure] = [:]
        var secrets: [String: [String]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// In the order in which the runs started.
    package var starts: [Start] { state.withLock { $0.starts } }
    /// The flows of the runs that ended, in order.
    package var ends: [String] { state.withLock { $0.ends } }

    package func starts(of flow: String) -> Int { starts.count { $0.flow == flow } }

    /// Runs of this flow wait from now on, until `letGo` is called.
    package func hold(_ flow: String) { state.withLock { _ = $0.held.insert(flow) } }

    package func letGo(_ flow: String) {
        let waiting = state.withLock { state in
            state.held.remove(flow)
            return state.waiting.removeValue(forKey: flow) ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Runs of this flow fail from now on.
    package func fail(_ flow: String, _ failure: RunReport.Failure) { state.withLock { $0.failures[flow] = failure } }

    /// Sets the names of a flow's secret arguments.
    package func setSecrets(_ names: [String], of flow: String) { state.withLock { $0.secrets[flow] = names } }

    package func parameters(of flow: ServedFlow) -> FlowDescription {
        let secrets = state.withLock { $0.secrets[flow.name] ?? [] }
        let properties = JSONObject(secrets.map { ($0, ["type": "string", "writeOnly": true] as JSON) })
        return FlowDescription(version: "abc123", summary: "A flow", schema: ["type": "object", "properties": .object(properties)])
    }

    /// Accepts all arguments, except that one named `bad` can be dropped as invalid.
    package func check(_ arguments: JSONObject, for flow: ServedFlow, ignoringInvalidValues: Bool) throws(PushError) -> CheckedArguments {
        var arguments = arguments
        if ignoringInvalidValues { arguments["bad"] = nil }
        guard arguments["bad"] == nil else {
            throw PushError("args.invalid", "unknown argument \"bad\"", hint: "leave it out", status: 400)
        }
        return CheckedArguments(values: arguments, secrets: state.withLock { $0.secrets[flow.name] ?? [] })
    }

    package func run(_ order: RunOrder, progress: @escaping @Sendable (RunProgress) -> Void) async -> RunResult {
        progress(.began(version: "abc123"))
        let time = order.run.lifecycle.startedAt ?? order.run.lifecycle.queuedAt
        state.withLock {
            $0.starts.append(
                Start(flow: order.flow.name, run: order.run.id, arguments: order.arguments, attempt: order.run.lifecycle.attempts))
        }
        progress(.line(RunReport.Line(time: time, level: "info", text: "hello")))
        await held(order.flow.name)
        if Task.isCancelled { return RunResult(state: .cancelled) }
        progress(
            .step(
                RunReport.Step(name: "send", depth: 0, status: "passed", began: time, ended: time, notifications: ["n-\(order.run.id)"])
            ))
        let failure = state.withLock { state in
            state.ends.append(order.flow.name)
            return state.failures[order.flow.name]
        }
        if let failure { return RunResult(state: .failed, failure: failure) }
        return RunResult(state: .completed, result: .object(order.arguments))
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
            // All waiting runs wake and check whether they may continue.
            let waiting = state.withLock { $0.waiting.removeValue(forKey: flow) ?? [] }
            for continuation in waiting { continuation.resume() }
        }
        if !Task.isCancelled, state.withLock({ $0.held.contains(flow) }) { await held(flow) }
    }
}

/// Knows only the zone UTC.
package struct OnlyUTC: TimeZoneSource {
    package init() {}

    package var names: [String] { ["UTC"] }

    package func rules(of name: String) throws(PushError) -> TimeZoneRules {
        guard name == "UTC" else { throw unknown(name) }
        return .utc
    }
}

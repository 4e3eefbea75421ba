import Lua
import PushModel
import Synchronization

/// Running one flow from another.
enum NestedFlowBindings {
    static let run = Binding(
        "push.run",
        "Runs another flow with the same hub, devices and clock, and returns when it has ended. Raises flow.failed if that flow fails.",
        takes: .positional([
            .required("file", .string, "the path of a Lua file, relative to the folder of this one"),
            .optional(
                "args", .map(.either([.string, .number, .boolean])), "arguments for the flow's push.args: { user = \"alice\" }"),
        ]),
        returns: "push.Run", errors: ["flow.failed", "flow.too_deep", "flow.arguments", "script.not_found", "script.outside"],
        example: "local run = push.run(\"notify_users.lua\", { user = \"alice\" })",
        body: .async(.waiting) { arguments, run in
            let script: FlowScript
            try run.account.charge(.files, 1)
            do throws(PushError) {
                script = try run.runner.scripts.script(at: try arguments.path("file"), from: run.script)
            } catch {
                throw LuaError(error)
            }
            let given = (arguments.table("args")?.texts ?? [:]).sorted { $0.key < $1.key }
            guard run.identity.run.count(where: { $0 == "." }) < deepest else {
                throw LuaError.failure(
                    "flow.too_deep", "running \(script.name) would nest flows \(deepest + 1) levels deep; the limit is \(deepest)",
                    hint: "look for a flow that runs itself")
            }
            let collector = EventCollector()
            let depth = run.depth(of: arguments.site.task)
            let child = run.child(
                script, parameters: FlowParameters(given: given.map { ($0.key.replacing("_", with: "-"), $0.value) }), depth: depth,
                sink: { event in
                    collector.take(event)
                    run.relay(event.deeper(by: depth))
                })
            let report = await run.runner.run(inside: child)
            run.absorb(child)
            if let error = report.failure(of: script) { throw error }
            return collector.record(of: report)
        })

    /// Maximum nesting depth of flows.
    private static let deepest = 8
}

extension Arguments {
    fileprivate func path(_ name: String) throws(PushError) -> String {
        guard let path = string(name), !path.isEmpty, !path.utf8.contains(0) else {
            throw PushError(
                "script.not_found", "\(self.name): \"\(name)\" must be the path of a script", hint: "give the path of a Lua file")
        }
        return path
    }
}

/// Collects the events of a nested flow.
private final class EventCollector: Sendable {
    private let state = Mutex(State())

    private struct State {
        var log: [String] = []
        var steps: [StepRecord] = []
        var warnings: [WarningRecord] = []
        var shown: [ShownRecord] = []
    }

    func take(_ event: FlowEvent) {
        state.withLock { state in
            switch event {
            case .log(_, let text, _): state.log.append(text)
            case .stepEnded(let step):
                state.steps.append(StepRecord(step: step))
                state.shown += step.shown.map(ShownRecord.init)
            case .shown(let items): state.shown += items.map(ShownRecord.init)
            case .warning(let warning): state.warnings.append(WarningRecord(warning: warning))
            case .stepStarted, .sent, .completed, .core, .crossed: break
            }
        }
    }

    func record(of report: FlowReport) -> RunRecord {
        state.withLock { state in
            RunRecord(report: report, steps: state.steps, log: state.log, warnings: state.warnings, shown: state.shown)
        }
    }
}

/// The result of a nested flow, as scripts see it: `push.Run`.
private struct RunRecord: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("result", .value), ("steps", [StepRecord].luaShape), ("log", [String].luaShape), ("warnings", [WarningRecord].luaShape),
        ("shown", [ShownRecord].luaShape), ("expectations", .integer), ("delivered", .integer),
    ]

    let report: FlowReport
    let steps: [StepRecord]
    let log: [String]
    let warnings: [WarningRecord]
    let shown: [ShownRecord]

    func writeMembers(to writer: inout LuaWriter) {
        // A flow that returns nil has no result.
        writer.write(report.result.flatMap { $0.isNull ? nil : LuaValue($0) } ?? .nil)
        writer.write(steps)
        writer.write(log)
        writer.write(warnings)
        writer.write(shown)
        writer.write(report.expectations.count)
        writer.write(report.sends.delivered)
    }
}

/// `push.RunStep`.
private struct StepRecord: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("name", .text), ("status", .text), ("registrations", .integer), ("expectations", .integer),
    ]

    let step: FlowStep

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(step.name)
        writer.write(step.status.rawValue)
        writer.write(step.registrations)
        writer.write(step.expectations)
    }
}

/// `push.Warning`.
private struct WarningRecord: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("code", .text), ("message", .text)]

    let warning: FlowWarning

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(warning.code)
        writer.write(warning.message)
    }
}

/// `push.ShownItem`.
private struct ShownRecord: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("device", .text), ("platform", .text), ("locale", .text), ("text", .text), ("time", .text),
    ]

    let item: ShownItem

    init(_ item: ShownItem) { self.item = item }

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(item.device)
        writer.write(item.platform.shortName)
        writer.write(item.locale)
        writer.write(item.text)
        writer.write(item.time.description)
    }
}

extension FlowReport {
    /// The error for the outer flow if the nested one failed.
    fileprivate func failure(of script: FlowScript) -> LuaError? {
        switch verdict {
        case .passed: return nil
        case .failed:
            return Self.failed(
                script, expectations.failures.first?.message ?? "an expectation failed",
                at: expectations.failures.first?.location, code: "expect.failed")
        case .raised(let error):
            // Options that the flow does not have are a mistake of the caller.
            if error.code.hasPrefix("usage.") {
                return .misuse("flow.arguments", "\(script.name): \(error.message)", hint: error.hint)
            }
            // Not catchable: a script that caught it would gain another budget.
            if error.kind == .cancelled || error.kind == .budget { return error }
            return Self.failed(script, error.message, at: error.location, code: error.code, hint: error.hint)
        }
    }

    private static func failed(
        _ script: FlowScript, _ why: String, at location: SourceLocation?, code: String, hint: String? = nil
    ) -> LuaError {
        let place = location.map { " at \($0)" } ?? ""
        return .failure(
            "flow.failed", "\(script.name) failed\(place): \(why) (\(code))", hint: hint, details: ["cause": .string(code)])
    }
}

import Lua
import PushCore
import Synchronization

extension Binding {
    static let run = Binding(
        "push.run",
        "Runs another flow in the same world, with the same phones and on the same clock, and answers when it is over. Raises flow.failed when that flow fails.",
        parameters: [
            .required("file", .string, "the script's path, relative to the folder of this one"),
            .optional(
                "args", .map(.either([.string, .number, .boolean])), "what the flow's push.args gets: { user = \"alice\" }"),
        ],
        returns: "push.Run", errors: ["flow.failed", "flow.too_deep", "flow.arguments", "script.not_found"],
        example: "local run = push.run(\"notify_users.lua\", { user = \"alice\" })",
        body: .async { arguments, run in
            let script: FlowScript
            do throws(PushError) {
                script = try run.runner.scripts.script(at: try arguments.path("file"), from: run.script)
            } catch {
                throw LuaError(error)
            }
            let given = (arguments.table("args")?.texts ?? [:]).sorted { $0.key < $1.key }
            guard run.identity.run.count(where: { $0 == "." }) < deepest else {
                throw LuaError.failure(
                    "flow.too_deep", "\(script.name) would be the \(deepest + 1)th flow inside another",
                    hint: "look for a flow that runs itself")
            }
            let heard = Heard()
            let depth = run.depth(of: arguments.call.task)
            let child = run.child(
                script, parameters: FlowParameters(given: given.map { ($0.key.replacing("_", with: "-"), $0.value) }),
                sink: { event in
                    heard.take(event)
                    run.emit(event.deeper(by: depth))
                })
            let report = await run.runner.run(inside: child)
            run.absorb(child)
            if let error = report.failure(of: script) { throw error }
            return [heard.value(report)]
        })

    /// Flows inside flows inside flows.
    private static let deepest = 8
}

extension Arguments {
    fileprivate func path(_ name: String) throws(PushError) -> String {
        guard let path = string(name), !path.isEmpty, !path.utf8.contains(0) else {
            throw PushError("script.not_found", "\"\(name)\" names no script", hint: "give the path of a Lua file")
        }
        return path
    }
}

/// What a flow inside told while it ran.
private final class Heard: Sendable {
    private let state = Mutex(State())

    private struct State {
        var log: [LuaValue] = []
        var steps: [LuaValue] = []
        var warnings: [LuaValue] = []
        var shown: [LuaValue] = []
    }

    func take(_ event: FlowEvent) {
        state.withLock { state in
            switch event {
            case .log(_, let text, _): state.log.append(.string(text))
            case .stepEnded(let step):
                state.steps.append(
                    .table(
                        LuaTable(fields: [
                            "name": .string(step.name), "status": .string(step.status.rawValue),
                            "registrations": .integer(Int64(step.registrations)),
                            "expectations": .integer(Int64(step.expectations)),
                        ])))
                state.shown += step.shown.map(LuaValue.init)
            case .shown(let items): state.shown += items.map(LuaValue.init)
            case .warning(let warning):
                state.warnings.append(
                    .table(LuaTable(fields: ["code": .string(warning.code), "message": .string(warning.message)])))
            case .stepBegan, .sent, .settled, .core, .crossed: break
            }
        }
    }

    func value(_ report: FlowReport) -> LuaValue {
        state.withLock { state in
            .table(
                LuaTable(fields: [
                    "result": report.result.map(LuaValue.init) ?? .nil,
                    "steps": .table(LuaTable(array: state.steps)), "log": .table(LuaTable(array: state.log)),
                    "warnings": .table(LuaTable(array: state.warnings)), "shown": .table(LuaTable(array: state.shown)),
                    "expectations": .integer(Int64(report.expectations)),
                    "delivered": .integer(Int64(report.delivered)),
                ]))
        }
    }
}

extension FlowReport {
    /// What the flow that ran this one gets to know of its failure.
    fileprivate func failure(of script: FlowScript) -> LuaError? {
        switch verdict {
        case .passed: return nil
        case .failed:
            return Self.failed(
                script, failedExpectations.first?.message ?? "an expectation failed",
                at: failedExpectations.first?.location, code: "expect.failed")
        case .raised(let error):
            // Options that the flow does not have are a mistake of the caller.
            if error.code.hasPrefix("usage.") {
                return .misuse("flow.arguments", "\(script.name): \(error.message)", hint: error.hint)
            }
            // A budget ends the whole run: who could catch it would have another one.
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

extension LuaValue {
    fileprivate init(_ item: ShownItem) {
        self = .table(
            LuaTable(fields: [
                "device": .string(item.device), "platform": .string(item.platform.shortName), "locale": .string(item.locale),
                "text": .string(item.text), "time": .string(item.time.description),
            ]))
    }
}

import Lua
import PushCore

/// `push.everyone`: the one value that addresses all devices.
struct EveryoneObject: Sendable {}

/// What the prelude needs of Swift beside the bindings, and the globals of a sandboxed script.
enum HostFunctions {
    static func all(_ run: FlowRun) -> [LuaFunction] {
        [
            .sync("host.check") { call in
                // The prelude's own functions are checked by their description too.
                guard case .string(let name)? = call.arguments.first, let binding = BindingRegistry.named(name) ?? Matchers.named(name)
                else {
                    return []
                }
                _ = try Arguments(call.dropping(1), for: binding)
                return []
            },
            .sync("host.everyone") { _ in [.object(LuaObject(type: "everyone", payload: EveryoneObject()))] },
            .sync("host.target") { _ in
                [
                    .table(
                        LuaTable(fields: [
                            "name": .string(run.world.target.name), "simulated": .boolean(run.world.target.isSimulated),
                        ]))
                ]
            },
            .sync("host.unknown_name") { call in
                let texts = call.arguments.map { $0.text ?? "" }
                guard call.arguments.count == 3, case .table(let known) = call.arguments[2] else { return [] }
                throw LuaError.unknownName(texts[1], in: texts[0], known: known.array.compactMap(\.text))
            },
            .sync("host.read_only") { call in
                let texts = call.arguments.map { $0.text ?? "" }
                guard texts.count == 2 else { return [] }
                throw LuaError.readOnly(texts[1], in: texts[0])
            },
            .sync("host.step_begin") { call in
                [.integer(Int64(try run.beginStep(call.arguments.first?.text ?? "", task: call.task)))]
            },
            .async("host.step_end") { call in
                guard case .integer(let id)? = call.arguments.first else { return [] }
                let shown = await run.newlyShown()
                run.endStep(Int(id), task: call.task, passed: true, shown: shown)
                return []
            },
            .sync("host.step_fail") { call in
                guard case .integer(let id)? = call.arguments.first else { return [] }
                run.endStep(Int(id), task: call.task, passed: false, shown: [])
                return []
            },
            .sync("host.step_current") { call in [.integer(Int64(run.currentStep(of: call.task)))] },
            .sync("host.step_join") { call in
                if case .integer(let id)? = call.arguments.first { run.join(step: Int(id), task: call.task) }
                return []
            },
            .sync("host.step_skip") { call in
                run.skipStep(
                    call.arguments.first?.text ?? "", task: call.task,
                    reason: "phones, wires and the clock are not simulated on \(run.world.target.name)")
                return []
            },
            .sync("host.expect") { call in [.integer(Int64(run.openExpectation(at: call.location)))] },
            .sync("host.expectation") { call in
                let arguments = call.arguments
                if case .integer(let id)? = arguments.dropFirst().first { run.settleExpectation(Int(id)) }
                guard arguments.first == .boolean(false) else {
                    run.noteExpectation(nil, task: call.task)
                    return []
                }
                func text(_ place: Int) -> String? { place < arguments.count ? arguments[place].text : nil }
                run.noteExpectation(
                    FailedExpectation(
                        message: text(2) ?? "", location: call.location, expected: text(3), actual: text(4)),
                    task: call.task)
                return []
            },
            .async("host.installations") { call in
                var filter: LuaTable?
                if case .table(let table)? = call.arguments.first { filter = table }
                return try await run.installationPage(filter, continuation: call.arguments.dropFirst().first?.text)
            },
            .sync("host.simulator") { call in
                [
                    .object(
                        LuaObject(
                            type: "simulator", payload: SimulatorObject(try Platform.named(call.arguments.first?.text ?? ""))))
                ]
            },
            .sync("host.test_wanted") { _ in
                switch run.purpose {
                case .flow, .interactive: [.nil]
                case .collectingTests: [.integer(0)]
                case .test(let number, _): [.integer(Int64(number))]
                }
            },
            .sync("host.declare_test") { call in
                guard run.purpose != .flow, run.purpose != .interactive else {
                    let file = run.purpose == .flow ? "run it with pushhost test \(run.script.name)" : "write it into a file *_spec.lua"
                    throw LuaError.misuse("test.not_a_spec", "push.test.it outside of a test run", hint: file)
                }
                let test = TestCase(
                    groups: call.arguments.dropFirst(2).compactMap(\.text), name: call.arguments.first?.text ?? "",
                    location: call.location, isPending: call.arguments.dropFirst().first == .boolean(true))
                return [.boolean(run.declare(test))]
            },
            .sync("host.log") { call in
                try run.log(call.arguments.first?.text ?? "info", call.arguments.dropFirst().first?.text ?? "", at: call.location)
                return []
            },
        ]
    }

    /// `print` goes to the run's log, the time is the run's.
    static func globals(_ run: FlowRun) -> [LuaFunction] {
        [
            .sync("os.time") { call in
                switch call.arguments.first ?? .nil {
                case .nil: return [.integer(run.world.clock.now.seconds)]
                case .table(let table): return [.integer(try CalendarFields(table).seconds)]
                case let other:
                    throw LuaError.misuse(
                        "args.wrong_type", "os.time takes a table, got \(other.phrase)", hint: "give year, month and day")
                }
            },
            .sync("os.clock") { _ in [.number(Double((run.world.clock.now - run.began).milliseconds) / 1000)] },
            .sync("os.date") { call in
                let moment = try DateFormat.moment(call.arguments.dropFirst().first ?? .nil, now: run.world.clock.now)
                guard let format = (call.arguments.first ?? .nil).dateFormat else {
                    throw LuaError.misuse(
                        "args.wrong_type", "os.date takes a format, got \(call.arguments[0].phrase)",
                        hint: "write os.date(\"%H:%M\")")
                }
                return [try DateFormat(format).value(at: moment)]
            },
            .sync("os.difftime") { call in
                func seconds(_ place: Int) throws(LuaError) -> Double {
                    switch place < call.arguments.count ? call.arguments[place] : .nil {
                    case .integer(let value): return Double(value)
                    case .number(let value): return value
                    default: throw .misuse("args.wrong_type", "os.difftime takes two times", hint: "pass what os.time returns")
                    }
                }
                return [.number(try seconds(0) - seconds(1))]
            },
        ]
    }

    /// What a sandboxed script looks for in vain, and what to use instead.
    static let absent: [String: String] = [
        "io": "use push.log to write, and the flow's return value for results; files are out of reach",
        "os.execute": "a flow cannot start programs",
        "os.exit": "return from the script, or call push.fail",
        "os.getenv": "use push.args for parameters and push.secret for secrets",
        "os.remove": "files are out of reach of a flow",
        "os.rename": "files are out of reach of a flow",
        "os.tmpname": "files are out of reach of a flow",
        "os.setlocale": "the locale is fixed",
        "debug": "errors carry their trace; use push.log to look at values",
        "dofile": "a flow is one file: require \"push\" is all there is",
        "loadfile": "a flow is one file: require \"push\" is all there is",
        "package": "a flow is one file: require \"push\" is all there is",
        "string.dump": "bytecode is not accepted",
    ]
}

extension LuaValue {
    fileprivate var dateFormat: String? { self == .nil ? "%c" : text }
}

extension LuaCall {
    func dropping(_ count: Int) -> LuaCall {
        LuaCall(arguments: Array(arguments.dropFirst(count)), location: location, run: run, task: task)
    }
}

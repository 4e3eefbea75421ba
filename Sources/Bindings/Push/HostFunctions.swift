import Lua
import PushCore

/// `push.everyone`: the one value that addresses all devices.
struct EveryoneObject: Sendable {}

/// What the prelude needs of Swift beside the bindings, and the globals of a sandboxed script.
enum HostFunctions {
    static func all(_ home: FlowRun) -> [LuaFunction] { checks(home) + steps(home) + tests(home) + values(home) + plugins(home) }

    private static func checks(_ home: FlowRun) -> [LuaFunction] {
        [
            // The prelude's own functions are checked by their description too.
            .check("host.check") { name, call in
                guard let binding = BindingRegistry.named(name) ?? Matchers.named(name) else { return }
                if BindingRegistry.named(name) != nil { try home.attached(call.attachment).permit(binding) }
                _ = try Arguments(call, for: binding)
            },
            LuaFunction("host.unknown_name") { (label: String, name: LuaBytes, known: [LuaBytes]) throws in
                throw LuaError.unknownName(name.text, in: label, known: known.map(\.text))
            },
            LuaFunction("host.read_only") { (label: String, name: LuaBytes) throws in
                throw LuaError.readOnly(name.text, in: label)
            },
        ]
    }

    private static func steps(_ home: FlowRun) -> [LuaFunction] {
        [
            LuaFunction("host.step_begin") { (site: LuaCallSite, name: String) in try home.attached(site).beginStep(name, task: site.task)
            },
            LuaFunction("host.step_end") { (site: LuaCallSite, id: Int) async in
                let run = home.attached(site)
                let shown = await run.newlyShown()
                run.endStep(id, task: site.task, passed: true, shown: shown)
            },
            LuaFunction("host.step_fail") { (site: LuaCallSite, id: Int) in
                home.attached(site).endStep(id, task: site.task, passed: false, shown: [])
            },
            LuaFunction("host.step_current") { (site: LuaCallSite) in home.attached(site).currentStep(of: site.task) },
            LuaFunction("host.step_join") { (site: LuaCallSite, id: Int) in home.attached(site).join(step: id, task: site.task) },
            LuaFunction("host.step_skip") { (site: LuaCallSite, name: String) throws in
                try home.attached(site).skipStep(
                    name, task: site.task,
                    reason: home.world.target.isPlanned
                        ? "a plan sends nothing that could be looked at"
                        : "phones, wires and the clock are not simulated on \(home.world.target.name)")
            },
        ]
    }

    private static func tests(_ home: FlowRun) -> [LuaFunction] {
        [
            LuaFunction("host.expect") { (site: LuaCallSite) in home.attached(site).openExpectation(at: site.location) },
            LuaFunction("host.expectation_begun") { (site: LuaCallSite, id: Int) in home.attached(site).settleExpectation(id) },
            LuaFunction("host.allow_no_target") { (site: LuaCallSite) in home.attached(site).allowNoTarget() },
            LuaFunction("host.missed_item") { (site: LuaCallSite) -> String? in home.attached(site).takeMissedItem(of: site.task) },
            LuaFunction("host.expectation_met") { (site: LuaCallSite) in
                home.attached(site).noteExpectation(nil, task: site.task)
            },
            LuaFunction("host.expectation_failed") { (site: LuaCallSite, failure: Failure) throws in
                try home.attached(site).noteFailedExpectation(
                    FailedExpectation(
                        message: failure.message, location: site.location, expected: failure.expected, actual: failure.actual),
                    task: site.task)
            },
            LuaFunction("host.test_wanted") { () -> Int? in
                switch home.purpose {
                case .flow, .interactive: nil
                case .collectingTests: 0
                case .test(let number, _): number
                }
            },
            LuaFunction("host.declare_test") { (site: LuaCallSite, name: String, isPending: Bool, groups: [String]) throws in
                guard home.purpose != .flow, home.purpose != .interactive else {
                    let file = home.purpose == .flow ? "run it with pushhost test \(home.script.name)" : "write it into a file *_spec.lua"
                    throw LuaError.misuse("test.not_a_spec", "push.test.it outside of a test run", hint: file)
                }
                return home.declare(TestCase(groups: groups, name: name, location: site.location, isPending: isPending))
            },
        ]
    }

    private static func values(_ home: FlowRun) -> [LuaFunction] {
        [
            LuaFunction("host.everyone") { () in LuaObject(type: "everyone", payload: EveryoneObject()) },
            .sync("host.json_null") { _ in [JSONNull.value] },
            LuaFunction("host.target") { () in Target(name: home.world.target.name, isSimulated: home.world.target.isSimulated) },
            LuaFunction("host.simulator") { (name: String) throws in
                LuaObject(type: "simulator", payload: SimulatorObject(try Platform.named(name)))
            },
            LuaFunction("host.installations") { (site: LuaCallSite, filter: LuaValue, continuation: String?) async throws in
                var fields: LuaTable?
                if case .table(let table) = filter { fields = table }
                return try await home.attached(site).installationPage(fields, continuation: continuation)
            },
            LuaFunction("host.log") { (site: LuaCallSite, level: String, text: LuaBytes) throws in
                try home.attached(site).log(level, text.text, at: site.location)
            },
        ]
    }

    /// Of an expectation that does not hold.
    private struct Failure: LuaReadableRecord {
        static let luaMembers: [(name: String, shape: LuaShape)] = [("message", .bytes), ("expected", .bytes), ("actual", .bytes)]

        let message: String
        let expected: String
        let actual: String

        init(members: inout LuaReader) throws {
            message = try members.read(LuaBytes.self).text
            expected = try members.read(LuaBytes.self).text
            actual = try members.read(LuaBytes.self).text
        }
    }

    private struct Target: LuaWritableRecord {
        static let luaMembers: [(name: String, shape: LuaShape)] = [("name", .text), ("simulated", .boolean)]

        let name: String
        let isSimulated: Bool

        func writeMembers(to writer: inout LuaWriter) {
            writer.write(name)
            writer.write(isSimulated)
        }
    }

    /// `print` goes to the run's log, the time is the run's.
    static func globals(_ home: FlowRun) -> [LuaFunction] {
        [
            .sync("os.time") { call in
                switch call.arguments.first ?? .nil {
                case .nil: return [.integer(home.world.clock.now.seconds)]
                case .table(let table): return [.integer(try CalendarFields(table).seconds)]
                case let other:
                    throw LuaError.misuse(
                        "args.wrong_type", "os.time takes a table, got \(other.phrase)", hint: "give year, month and day")
                }
            },
            LuaFunction("os.clock") { () in Double((home.world.clock.now - home.began).milliseconds) / 1000 },
            .sync("os.date") { call in
                let moment = try DateFormat.moment(call.arguments.dropFirst().first ?? .nil, now: home.world.clock.now)
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
        "dofile": "write the code into a file beside the flow that returns a table, and require it by its name",
        "loadfile": "write the code into a file beside the flow that returns a table, and require it by its name",
        "package": "write the code into a file beside the flow that returns a table, and require it by its name",
        "string.dump": "bytecode is not accepted",
    ]
}

extension LuaValue {
    fileprivate var dateFormat: String? { self == .nil ? "%c" : text }
}

extension LuaBytes {
    /// For people: what is not UTF-8 is replaced.
    fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}

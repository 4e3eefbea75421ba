import Lua
import PushModel

/// The value of `push.everyone`, the audience of all devices.
struct EveryoneObject: Sendable {}

/// Functions that the Lua prelude needs besides the bindings, and globals of a sandboxed script.
enum HostFunctions {
    static func all(_ registry: BindingRegistry, _ home: FlowRun) -> [LuaFunction] {
        checks(registry, home) + steps(home) + tests(home) + properties(home) + values(home) + plugins(home)
    }

    private static func checks(_ registry: BindingRegistry, _ home: FlowRun) -> [LuaFunction] {
        [
            // Functions of the prelude are also checked against their descriptions.
            .check("host.check") { name, call in
                let own = registry.binding(named: name)
                guard let binding = own ?? Matchers.named(name) else { return }
                if let own { try home.attached(call.attachment).permit(own.name, own.conditions) }
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
                let shown = await run.sends.takeShownItems()
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
                        ? "nothing is sent while planning"
                        : "devices, push services and the clock are not simulated on \(home.world.target.name)")
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
                try home.requireTestRun("push.test.it")
                return home.declare(TestCase(groups: groups, name: name, location: site.location, isPending: isPending))
            },
        ]
    }

    private static func properties(_ home: FlowRun) -> [LuaFunction] {
        [
            LuaFunction("host.declare_property") { (site: LuaCallSite, name: String, groups: [String], limits: [Int]) throws in
                try home.requireTestRun("push.test.property")
                var test = TestCase(groups: groups, name: name, location: site.location, isPending: false)
                test.property = PropertyLimits(cases: limits[0], shrinks: limits[1], examples: limits[2])
                return home.declare(test)
            },
            LuaFunction("host.snapshot") { (text: LuaBytes, name: String?, isRunning: Bool) throws -> [String] in
                try home.requireTestRun("push.test.snapshot")
                guard isRunning, case .test(_, let test) = home.purpose else {
                    throw LuaError.misuse(
                        "test.order", "push.test.snapshot was called outside of a test", hint: "call it in the function of push.test.it")
                }
                guard let book = home.role.snapshots else { return [SnapshotBook.Comparison.Verdict.same.rawValue, "", ""] }
                let found = book.compare(home.withheld.masking(text.text), name: name, test: test)
                return [found.verdict.rawValue, found.key, found.stored]
            },
            LuaFunction("host.property_example") { () -> Int? in home.role.draws?.example },
            LuaFunction("host.property_case") { (text: LuaBytes) in
                if let draws = home.role.draws { draws.setText(home.withheld.masking(text.text)) }
            },
            LuaFunction("host.draw") { (most: Int) in home.role.draws?.draw(most) ?? 0 },
            LuaFunction("host.draw_begin") { () in if let draws = home.role.draws { draws.beginSpan() } },
            LuaFunction("host.draw_end") { () in if let draws = home.role.draws { draws.endSpan() } },
        ]
    }

    private static func values(_ home: FlowRun) -> [LuaFunction] {
        [
            LuaFunction("host.masked") { (site: LuaCallSite, text: LuaBytes) in home.attached(site).withheld.masking(text.text) },
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

    /// A failed expectation.
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

    /// Replaces time functions with the clock of the run.
    static func globals(_ home: FlowRun) -> [LuaFunction] {
        [
            .sync("os.time") { call in
                switch call.arguments.first ?? .nil {
                case .nil: return [.integer(home.world.clock.now.seconds)]
                case .table(let table): return [.integer(try CalendarFields(table).seconds)]
                case let other:
                    throw LuaError.misuse(
                        "args.wrong_type", "os.time needs a table, got \(other.phrase)", hint: "give year, month and day")
                }
            },
            LuaFunction("os.clock") { () in Double((home.world.clock.now - home.began).milliseconds) / 1000 },
            .sync("os.date") { call in
                let time = try DateFormat.time(call.arguments.dropFirst().first ?? .nil, now: home.world.clock.now)
                guard let format = (call.arguments.first ?? .nil).dateFormat else {
                    throw LuaError.misuse(
                        "args.wrong_type", "os.date needs a format, got \(call.arguments[0].phrase)",
                        hint: "write os.date(\"%H:%M\")")
                }
                return [try DateFormat(format).value(at: time)]
            },
            .sync("os.difftime") { call in
                func seconds(_ index: Int) throws(LuaError) -> Double {
                    switch index < call.arguments.count ? call.arguments[index] : .nil {
                    case .integer(let value): return Double(value)
                    case .number(let value): return value
                    default: throw .misuse("args.wrong_type", "os.difftime needs two times", hint: "pass what os.time returns")
                    }
                }
                return [.number(try seconds(0) - seconds(1))]
            },
        ]
    }

    /// Names that the sandbox lacks, with what to use instead.
    static let absent: [String: String] = [
        "io": "use push.log to write, and the flow's return value for results; flows have no access to files",
        "os.execute": "flows cannot start programs",
        "os.exit": "return from the script, or call push.fail",
        "os.getenv": "use push.args for parameters and push.secret for secrets",
        "os.remove": "flows have no access to files",
        "os.rename": "flows have no access to files",
        "os.tmpname": "flows have no access to files",
        "os.setlocale": "the locale is fixed",
        "debug": "errors have a traceback; use push.log to print values",
        "dofile": "put the code into a file beside the flow that returns a table, and load it with require",
        "loadfile": "put the code into a file beside the flow that returns a table, and load it with require",
        "package": "put the code into a file beside the flow that returns a table, and load it with require",
        "string.dump": "bytecode is not accepted",
    ]
}

extension LuaValue {
    fileprivate var dateFormat: String? { self == .nil ? "%c" : text }
}

extension LuaBytes {
    /// The text for display, with invalid UTF-8 replaced.
    fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension FlowRun {
    /// Throws `test.not_a_spec` if the run is not one of a spec.
    fileprivate func requireTestRun(_ name: String) throws(LuaError) {
        guard purpose == .flow || purpose == .interactive else { return }
        throw .misuse(
            "test.not_a_spec", "\(name) was called outside a test run",
            hint: purpose == .flow ? "run it with pushhost test \(script.name)" : "put it into a file *_spec.lua")
    }
}

import HostSupport
import Lua
import PushModel
import Synchronization
import Testing

@testable import Bindings

/// Calls of asynchronous functions, many of them in progress at a time, within the budgets of their run.
@Suite struct RunOperationTests {
    /// Counts the operations that work.
    private final class Counter: Sendable {
        private let state = Mutex((now: 0, most: 0, begun: 0))

        func begin() {
            state.withLock { state in
                state.now += 1
                state.begun += 1
                state.most = max(state.most, state.now)
            }
        }

        func end() { state.withLock { $0.now -= 1 } }

        var now: Int { state.withLock { $0.now } }
        var most: Int { state.withLock { $0.most } }
        var begun: Int { state.withLock { $0.begun } }
    }

    private let counter = Counter()

    /// `push.work(text)`: takes a second, and then what `work` does.
    private func registry(
        _ kind: RunOperation.Kind, work: @escaping @Sendable (FlowRun) async throws -> Void = { _ in }
    ) -> BindingRegistry {
        BindingRegistry.standard.adding([
            Binding(
                "push.work", "Works.", takes: .positional([.optional("text", .string, "any text")]), example: "push.work()",
                body: .async(kind) { [counter] _, run in
                    counter.begin()
                    defer { counter.end() }
                    try await run.world.clock.sleep(until: run.world.clock.now + .seconds(1))
                    try await work(run)
                })
        ])
    }

    private func account(memory: Int = 1 << 30) -> RunAccount {
        RunAccount(RunAccount.Limits(cpu: .seconds(600), memory: memory))
    }

    private func rehearse(_ lua: String, _ account: RunAccount, _ registry: BindingRegistry) async throws -> Rehearsal {
        try await HostSupport.rehearse(
            lua, limits: LuaLimits(memory: account.limits.memory, cpu: .seconds(600)), account: account, module: registry)
    }

    @Test func `a limited number of a run's operations work at a time`() async throws {
        let run = try await rehearse("for i = 1, 200 do push.spawn(push.work) end", account(), registry(.bounded))
        #expect(run.hasPassed, "\(run.report.verdict)")
        #expect((counter.begun, counter.most) == (200, OperationLimiter.limit))
    }

    @Test func `operations that wait are not limited`() async throws {
        let run = try await rehearse("for i = 1, 200 do push.spawn(push.work) end", account(), registry(.waiting))
        #expect(run.hasPassed, "\(run.report.verdict)")
        #expect((counter.begun, counter.most) == (200, 200))
    }

    @Test(arguments: [RunOperation.Kind.bounded, .waiting, .sending])
    func `the arguments of operations in progress count against the memory budget`(kind: RunOperation.Kind) async throws {
        let account = account(memory: 16 << 20)
        let run = try await rehearse(
            "local big = ('x'):rep(1 << 20) for i = 1, 1000 do push.spawn(push.work, big) end", account, registry(kind))
        #expect(run.error?.code == "budget.memory", "\(run.report.verdict)")
        #expect(counter.begun < 16 && counter.now == 0)
    }

    @Test(arguments: [RunOperation.Kind.bounded, .waiting])
    func `memory is released when operations end, fail or are cancelled`(kind: RunOperation.Kind) async throws {
        let count = Mutex(0)
        let account = account()
        let run = try await rehearse(
            """
            local big = ("x"):rep(1 << 20)
            for i = 1, 100 do
              local task = push.spawn(function() pcall(push.work, big) end)
              if i % 3 == 0 then task:cancel() end
            end
            """, account,
            registry(kind) { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number % 3 == 1 { throw LuaError.failure("flow.failed", "not this time") }
            })
        #expect(run.hasPassed, "\(run.report.verdict)")
        #expect(account.used(.memory) < 4 << 20, "\(account.used(.memory))")
    }

    @Test func `operations that wait for their turn do not begin once a budget is spent`() async throws {
        let run = try await rehearse(
            "for i = 1, 500 do push.spawn(function() pcall(push.work) end) end", account(),
            registry(.bounded) { $0.account.note(.cpu, 601_000_000_000) })
        #expect(run.error?.code == "budget.cpu", "\(run.report.verdict)")
        #expect(counter.begun <= 2 * OperationLimiter.limit && counter.now == 0, "\(counter.begun)")
    }

    @Test func `a task that is cancelled while it waits for its turn ends, and the others continue`() async throws {
        let run = try await rehearse(
            """
            local tasks = {}
            for i = 1, 100 do tasks[i] = push.spawn(push.work) end
            push.sleep "500ms"
            tasks[90]:cancel()
            local _, err = pcall(function() tasks[90]:await() end)
            return err.code
            """, account(), registry(.bounded))
        #expect(run.result == #""cancelled""#, "\(run.report.verdict)")
        #expect(counter.begun == 99)
    }

    @Test(arguments: [
        "push.sleep", "push.clock.advance", "device:wait_for", "device:next_push", "push.run", "push.http", "plugin:request", "push.send",
        "session:send", "session:send_secure",
    ])
    func `a function that may wait for another call is not limited`(name: String) throws {
        let binding = try #require(BindingRegistry.standard.binding(named: name))
        guard case .async(let kind, _) = binding.body.kind else {
            Issue.record("\(name) is not asynchronous")
            return
        }
        #expect(kind != .bounded)
    }

    // MARK: - Every function

    /// The asynchronous functions that a flow may call with a long text.
    private static let functions = BindingRegistry.standard.bindings.filter { binding in
        guard case .async = binding.body.kind else { return false }
        return binding.conditions.phases.contains(.flow) && binding.longText != nil
    }.map(\.name)

    @Test func `most asynchronous functions take texts`() { #expect(Self.functions.count > 20, "\(Self.functions)") }

    @Test(arguments: functions)
    func `a call is charged for its arguments before it begins`(name: String) async throws {
        let binding = try #require(BindingRegistry.standard.binding(named: name))
        let call = binding.call(withLongText: "big")
        let prepared =
            "local s = login 'ana' local p = push.device { name = 'p' } local big = ('x'):rep(\(Parameter.longestText)) "
        let before = account()
        #expect(try await rehearse(prepared, before, .standard).hasPassed)
        let account = account(memory: before.used(.memory) + 3 * Parameter.longestText / 2)
        let run = try await rehearse(prepared + "pcall(function() \(call) end)", account, .standard)
        #expect(run.error?.code == "budget.memory", "\(call): \(run.report.verdict)")
    }
}

extension Binding {
    /// The parameter that gets a long text; nil if there is none that takes any text.
    fileprivate var longText: Parameter? {
        let candidates = parameters.filter { $0.rule == nil && $0.type.takesText }
        return candidates.first(where: \.isRequired) ?? candidates.first
    }

    /// A call in Lua of which one argument is the variable `text`.
    fileprivate func call(withLongText text: String) -> String {
        let given = parameters.enumerated().map { index, parameter in
            let value = parameter.name == longText?.name ? text : parameter.isRequired ? parameter.type.sample : "nil"
            return style == .table || style == .leading && index > 0 ? "\(parameter.name) = \(value)" : value
        }
        let arguments =
            switch style {
            case .leading: "\(given[0]), { \(given.dropFirst().joined(separator: ", ")) }"
            case .table: "{ \(given.joined(separator: ", ")) }"
            case .positional, .value: given.joined(separator: ", ")
            }
        let objects = ["session": "s", "device": "p", "simulator": "push.simulator.apns"]
        return "\(receiver.map { "\(objects[$0, default: $0]):\(shortName)" } ?? name)(\(arguments))"
    }
}

extension ParameterType {
    /// Whether any text is a value of the type.
    fileprivate var takesText: Bool {
        switch self {
        case .string, .any, .secret, .audience, .tagExpression, .tag, .template: true
        case .either(let types): types.contains(where: \.takesText)
        default: false
        }
    }

    /// A value of the type in Lua.
    fileprivate var sample: String {
        switch self {
        case .object(let name): name == "session" ? "s" : "p"
        case .function: "function() end"
        case .table, .map, .list, .byPlatform: "{}"
        case .platform: "'apns'"
        case .boolean: "true"
        case .integer, .number, .duration, .time: "1"
        case .oneOf(let names): "'\(names[0])'"
        case .either(let types): types[0].sample
        default: "'x'"
        }
    }
}

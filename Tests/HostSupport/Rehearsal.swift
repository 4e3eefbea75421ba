package import Bindings
package import Lua
package import PushLab
package import PushModel
import Synchronization
package import Testing

/// Passwords and keys for the tests.
package struct TestSecrets: SecretSource {
    package static let password = "correct horse battery staple"
    private let values = ["demo_password": password, "api_key": "k-93f1c7"]

    package init() {}

    package func secret(named name: String, for script: FlowScript) -> Secret? { values[name].map(Secret.init) }
    package var names: [String] { values.keys.sorted() }
    package func searchedLocations(for name: String) -> String { "put it into secrets.json" }
}

/// Scripts that `push.run` finds by path.
package struct TestScripts: ScriptLibrary {
    package var texts: [String: String]

    package init(texts: [String: String]) { self.texts = texts }

    package func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        guard let text = texts[path] else { throw PushError("script.not_found", "\(path) does not exist") }
        return FlowScript(name: path, source: Array(text.utf8), version: "def456")
    }

    package func modules(of script: FlowScript) -> LuaSearchPath? {
        .lookup { name in texts["\(name).lua"].map { LuaScript(name: "\(name).lua", source: $0) } }
    }
}

/// One run of a script in the embedded simulation, in this process.
package struct Rehearsal: Sendable {
    package let report: FlowReport
    package let events: [FlowEvent]
    package let source: String

    package init(report: FlowReport, events: [FlowEvent], source: String) {
        self.report = report
        self.events = events
        self.source = source
    }

    package var error: LuaError? {
        if case .raised(let error) = report.verdict { error } else { nil }
    }

    package var hasPassed: Bool {
        if case .passed = report.verdict { true } else { false }
    }

    package var hasFailed: Bool {
        if case .failed = report.verdict { true } else { false }
    }

    /// The script's return value as JSON, with members in alphabetical order.
    package var result: String { report.result?.text(sortedKeys: true) ?? "null" }

    package var log: [String] {
        events.compactMap { if case .log(_, let text, _) = $0 { text } else { nil } }
    }

    package var steps: [FlowStep] {
        events.compactMap { if case .stepEnded(let step) = $0 { step } else { nil } }
    }

    package var settled: [FlowSend] {
        events.compactMap { if case .completed(let send) = $0 { send } else { nil } }
    }

    package var warnings: [FlowWarning] {
        events.compactMap { if case .warning(let warning) = $0 { warning } else { nil } }
    }

    package var shown: [String] {
        events.flatMap { event -> [ShownItem] in
            switch event {
            case .shown(let items): items
            case .stepEnded(let step): step.shown
            default: []
            }
        }.map { "\($0.device): \($0.text)" }
    }

    /// The text of all events, including what crossed the wire.
    package var everything: String {
        events.map { event in
            guard case .crossed(let exchange) = event else { return "\(event)" }
            let bodies = [exchange.request.body, exchange.response.body].map { String(decoding: $0, as: UTF8.self) }
            return "\(exchange) \(bodies)"
        }.joined(separator: "\n") + "\(report)"
    }
}

/// The opening that test scripts share. It is a single line, so that line numbers are those of the test's own script.
package let flowOpening =
    [
        #"local push = require "push""#,
        #"local function login(name) push.account { username = name, password = push.secret "demo_password" }"#,
        #"return push.login { username = name, password = push.secret "demo_password" } end"#,
        #"local function phone(session, name, platform, tags) local p = push.device { name = name, platform = platform }"#,
        #"session:register { device = p, tags = tags } return p end;"#,
    ].joined(separator: " ") + " "

/// Runs a script in which `push` is the module, `login(name)` opens a session and `phone(session, name, platform, tags)` registers a
/// phone. `around` may wrap the hub, and `prepare` may change the environment before the script starts.
package func rehearse(
    _ lua: String, opening begin: String = flowOpening, options: [(name: String, value: String?)] = [], seed: UInt64 = 1,
    limits: LuaLimits = LuaLimits(), account: RunAccount? = nil, detail: ReportDetail = .summary, beside scripts: [String: String] = [:],
    over wire: RehearsalWire = .process, module: any FlowModule = BindingRegistry.standard,
    prepare: (FlowWorld) async throws -> Void = { _ in }, around: (any HubGateway, VirtualClock) -> any HubGateway = { hub, _ in hub }
) async throws -> Rehearsal {
    let source = begin + lua
    let events = Mutex<[FlowEvent]>([])
    let thread = LuaThread(name: "rehearsal")
    defer { thread.stop() }
    let take: @Sendable (FlowEvent) -> Void = { event in events.withLock { $0.append(event) } }
    let world = try EmbeddedWorld(
        seed: seed, thread: thread, module: module, secrets: TestSecrets(), wire: wire, trace: take, around: around)
    try await prepare(world.world)
    var runner = FlowRunner(world: world.world, thread: thread, limits: limits, seed: seed, scripts: TestScripts(texts: scripts))
    runner.detail = detail
    let report = await runner.run(
        FlowScript(name: "flow.lua", source: Array(source.utf8), version: "abc123"), run: "r-0007",
        parameters: FlowParameters(given: options), account: account, events: take)
    await world.world.end()
    return Rehearsal(report: report, events: events.withLock { $0 }, source: source)
}

/// The return value of a script that must pass.
package func result(of lua: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) async throws -> String {
    let run = try await rehearse(lua)
    if let error = run.error { Issue.record("\(error)", sourceLocation: sourceLocation) }
    #expect(run.hasPassed, sourceLocation: sourceLocation)
    return run.result
}

/// The error of a script that must raise one.
package func failure(
    of lua: String, limits: LuaLimits = LuaLimits(), sourceLocation: Testing.SourceLocation = #_sourceLocation
) async throws -> LuaError {
    let run = try await rehearse(lua, limits: limits)
    return try #require(run.error, "the script raised nothing", sourceLocation: sourceLocation)
}

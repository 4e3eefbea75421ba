import Bindings
import Glibc
import Lua
import PushHub
import PushModel
import Storage

/// Measures plugins: a hook for each send, a hook for each notification to many devices, and loading fifty plugins.
///
/// All measurements share one process and take turns, so that other work on the machine affects both sides alike.
@main
enum PluginBenchmark {
    static func main() async throws {
        try await sends()
        try await deliveries()
        try await reloads()
    }

    private static let empty = """
        return { name = "empty", version = "1.0", hooks = {
          before_send = { on_failure = "fail_open", run = function() end },
          before_deliver = { on_failure = "fail_open", run = function() end },
        } }
        """

    /// CPU time of a send that is accepted and delivered to one device, with and without an empty `before_send`.
    private static func sends() async throws {
        let bench = try await Bench(devices: 1)
        let count = 2_000
        var best: [Bool: Double] = [:]
        for _ in 0..<7 {
            for hooked in [false, true] {
                try await bench.install(hooked ? [onlySend] : [])
                let used = try await cpu { for _ in 0..<count { _ = try await bench.hub.send(bench.request) } }
                best[hooked] = min(best[hooked] ?? .infinity, used / Double(count))
            }
        }
        report("a send to one device, µs of CPU", best, scale: 1e6)
    }

    private static let onlySend = """
        return { name = "empty", version = "1.0", hooks = { before_send = { on_failure = "fail_open", run = function() end } } }
        """
    private static let onlyDeliver = """
        return { name = "empty", version = "1.0", hooks = { before_deliver = { on_failure = "fail_open", run = function() end } } }
        """
    /// The work of quiet hours: counting six hundred tags.
    private static let counting = """
        local tags = {}
        for i = 1, 600 do tags[i] = "time_zone:" .. i end
        return { name = "empty", version = "1.0", hooks = { before_deliver = { on_failure = "fail_open", run = function(group)
          group:count_tags(tags)
        end } } }
        """

    /// CPU time of a notification to 100,000 devices, with and without a `before_deliver`.
    private static func deliveries() async throws {
        let bench = try await Bench(devices: 100_000)
        for (name, script) in [("empty", onlyDeliver), ("600 tags counted", counting)] {
            var best: [Bool: Double] = [:]
            for _ in 0..<5 {
                for hooked in [false, true] {
                    try await bench.install(hooked ? [script] : [])
                    let used = try await cpu { _ = try await bench.hub.send(bench.request) }
                    best[hooked] = min(best[hooked] ?? .infinity, used)
                }
            }
            report("a notification to 100,000 devices (\(name)), ms of CPU", best, scale: 1e3)
        }
    }

    /// Elapsed time of loading fifty plugins, each with its own module, and of replacing all of them.
    private static func reloads() async throws {
        let bench = try await Bench(devices: 0)
        var best = Double.infinity
        for round in 0..<7 {
            let begin = now()
            var loaded: [LoadedPlugin] = []
            for number in 1...50 { loaded.append(try await bench.load(number, round: round)) }
            bench.plugins.install(loaded)
            best = min(best, now() - begin)
        }
        print("50 plugins loaded and exchanged: \((best * 1e4).rounded() / 10) ms")
    }

    private static func report(_ what: String, _ best: [Bool: Double], scale: Double) {
        let (without, with) = ((best[false] ?? 0) * scale, (best[true] ?? 0) * scale)
        let share = (with / without - 1) * 100
        print("\(what): \(short(without)) without, \(short(with)) with, \(short(share)) % more")
    }

    private static func short(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

    // MARK: - Clocks

    /// CPU seconds of the whole process.
    private static func cpu(_ work: () async throws -> Void) async throws -> Double {
        let begin = processTime()
        try await work()
        return processTime() - begin
    }

    private static func processTime() -> Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }
    private static func now() -> Double { seconds(CLOCK_MONOTONIC) }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A hub in memory with plugins, in front of a push service that accepts everything.
private struct Bench {
    let hub: NotificationHub
    let plugins: PluginHost
    let request: NotificationRequest
    private let socket = LateBoundHooks()

    init(devices: Int) async throws {
        let environment = HubEnvironment(
            clock: WallClock(), random: SeededRandom(seed: 1), start: { work in Task { await work() } }, isWatched: { false }, hooks: socket
        )
        hub = NotificationHub(
            environment: environment, connectors: [Willing()], store: MemoryHubStore(),
            settings: HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true)))
        for number in 0..<devices {
            let digits = String(number, radix: 16, uppercase: true)
            _ = try await hub.createRegistration(
                RegistrationDescription(
                    handle: .apns(token: String(repeating: "0", count: 64 - digits.utf8.count) + digits),
                    tags: [try Tag("time_zone:\(number % 600 + 1)")]))
        }
        let world = FlowWorld(
            target: FlowWorld.Target(name: "benchmark", isSimulated: false), module: BindingRegistry.standard, hub: hub,
            backend: UnavailableBackend(), clock: WallClock(), secrets: NoSecrets(), zones: NoZones())
        plugins = PluginHost(
            services: PluginServices(
                world: world, keyValues: MemoryKeyValueSpaces(), http: NoOutboundHTTP(), events: PluginEvents(log: { print("\($0)") }),
                start: { work in Task { await work() } }))
        socket.connect(plugins)
        request = NotificationRequest(
            audience: .everyone, content: .native(AlertPayloads.system(title: nil, text: "Hello")))
    }

    func install(_ scripts: [String]) async throws {
        var loaded: [LoadedPlugin] = []
        for script in scripts {
            loaded.append(
                try await plugins.load(
                    PluginSource(name: "empty", folder: "plugins/empty", files: ["init.lua": Array(script.utf8)], hash: "000000"),
                    PluginConfiguration(file: "plugins.yaml")))
        }
        plugins.install(loaded)
    }

    func load(_ number: Int, round: Int) async throws -> LoadedPlugin {
        let main = """
            local push = require "push"
            local words = require "words"
            return {
              name = "p\(number)", version = "1.\(round)", needs = { "kv" },
              config = { limit = { type = "integer", default = 3 } },
              hooks = { before_send = { on_failure = "fail_open", run = function(draft) return words.of(draft) end } },
              routes = { { path = "/a/{b}", auth = "open", run = function(request) return { json = { b = request.params.b } } end } },
            }
            """
        let words = "return { of = function(draft) if draft.to == 'nobody' then return { veto = 'nobody' } end end }"
        return try await plugins.load(
            PluginSource(
                name: "p\(number)", folder: "plugins/p\(number)",
                files: ["init.lua": Array(main.utf8), "words.lua": Array(words.utf8)], hash: "00000\(round)"),
            PluginConfiguration(grants: [.kv], file: "plugins.yaml"))
    }
}

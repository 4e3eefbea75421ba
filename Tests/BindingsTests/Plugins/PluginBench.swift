import Lua
import PushModel
import Storage
import Support
import Synchronization

@testable import Bindings

/// Plugins over a hub in memory, with a clock that the test moves.
final class PluginBench: Sendable {
    let hub: HubBench
    let host: PluginHost
    private let lines = Mutex<[PluginMessage]>([])
    private let refusals = Mutex<[PluginDenial]>([])

    private let socket = LateBoundHooks()

    /// - Parameter isHooked: whether the hub calls the plugins; otherwise tests call them.
    init(
        secrets: [String: String] = [:], isHooked: Bool = false, http: any OutboundHTTP = NoOutboundHTTP(),
        onMemoryFreed: @escaping @Sendable () -> Void = {}
    ) throws {
        let bench = try HubBench(hooks: isHooked ? socket : NoHooks())
        let world = FlowWorld(
            target: FlowWorld.Target(name: "server", isSimulated: false, outlivesRuns: true), module: BindingRegistry.standard,
            hub: bench.hub, backend: bench.backend, clock: bench.clock, secrets: FixedSecrets(values: secrets), zones: UTCAlone())
        let box = Box()
        host = PluginHost(
            services: PluginServices(
                world: world, keyValues: MemoryKeyValueSpaces(), http: http,
                events: PluginEvents(
                    log: { message in box.bench?.lines.withLock { $0.append(message) } },
                    onDenial: { denial in box.bench?.refusals.withLock { $0.append(denial) } }, onMemoryFreed: onMemoryFreed),
                start: { work in Task { await work() } }))
        hub = bench
        box.set(self)
        socket.connect(host)
    }

    var messages: [PluginMessage] { lines.withLock { $0 } }
    var texts: [String] { messages.map { "\($0.level.rawValue) \($0.text)" } }
    var denials: [PluginDenial] { refusals.withLock { $0 } }

    /// The source of a plugin with these files and a simple hash of them.
    static func source(_ name: String, _ main: String, files: [String: String] = [:]) -> PluginSource {
        let all = files.merging(["init.lua": main]) { $1 }
        let hash = all.sorted { $0.key < $1.key }.map { String($0.value.utf8.reduce(5381) { ($0 &* 33) ^ UInt64($1) }, radix: 16) }.joined()
        return PluginSource(
            name: name, folder: "plugins/\(name)", files: all.mapValues { Array($0.utf8) },
            hash: String(repeating: "0", count: max(0, 64 - hash.count)) + hash)
    }

    /// A plugin whose manifest has these members besides name and version.
    static func plugin(_ name: String, _ members: String, before: String = "", files: [String: String] = [:]) -> PluginSource {
        source(name, "local push = require \"push\"\n\(before)\nreturn { name = \"\(name)\", version = \"1.0\", \(members) }", files: files)
    }

    func load(
        _ source: PluginSource, values: JSON = .null, grants: [String] = []
    ) async throws -> LoadedPlugin {
        try await host.load(
            source,
            PluginConfiguration(values: values, grants: try grants.map { try Capability(parsing: $0) }, file: "plugins/plugins.yaml"))
    }

    /// Loads plugins and installs them in this order.
    func install(_ sources: PluginSource..., grants: [String] = []) async throws {
        var loaded: [LoadedPlugin] = []
        for source in sources { loaded.append(try await load(source, grants: grants)) }
        host.install(loaded)
    }

    func failure(of source: PluginSource, values: JSON = .null, grants: [String] = []) async throws -> LuaError? {
        do {
            _ = try await load(source, values: values, grants: grants)
            return nil
        } catch let error as LuaError {
            return error
        }
    }

    func draft(_ text: String = "Hello", to expression: String? = "Sports", origin: [String] = []) throws -> SendDraft {
        SendDraft(hub: "hub", request: try .alert(text, to: expression), origin: origin)
    }

    /// A reference to the bench for objects that are created before it.
    private final class Box: Sendable {
        private struct Reference: Sendable { weak var bench: PluginBench? }
        private let held = Mutex(Reference())
        var bench: PluginBench? { held.withLock { $0.bench } }
        func set(_ bench: PluginBench) { held.withLock { $0.bench = bench } }
    }
}

/// A source of time zones that knows UTC alone.
struct UTCAlone: TimeZoneSource {
    var names: [String] { ["UTC"] }

    func rules(of name: String) throws(PushError) -> TimeZoneRules {
        guard name == "UTC" else { throw unknown(name) }
        return .utc
    }
}

struct FixedSecrets: SecretSource {
    var values: [String: String]

    func secret(named name: String, for script: FlowScript) throws(PushError) -> Secret? { values[name].map { Secret($0) } }
    var names: [String] { values.keys.sorted() }
    func searchedLocations(for name: String) -> String { "nowhere" }
}

/// A group of devices that records the rulings of hooks.
final class NotedGroup: HookedGroup {
    let hub = "hub"
    let notificationID = "n-0001"
    let request: NotificationRequest
    let platform = Platform.apns
    let isDirect = false
    let origin: [String]
    private let all: [HookedDevice]
    private let state = Mutex<(rulings: [DeliveryRuling], settled: Set<UInt32>)>(([], []))

    init(_ devices: [HookedDevice], origin: [String] = []) throws {
        all = devices
        self.origin = origin
        request = try .alert("Hello", to: "Sports")
    }

    var rulings: [DeliveryRuling] { state.withLock { $0.rulings } }
    var remaining: [HookedDevice] {
        let settled = state.withLock { $0.settled }
        return all.filter { !settled.contains($0.number) }
    }
    var count: Int { remaining.count }

    func counts(of tags: [Tag]) async -> [Int] { tags.map { tag in remaining.count { $0.tags.contains(tag) } } }

    func devices(after number: UInt32?, limit: Int) async -> [HookedDevice] {
        Array(remaining.filter { number == nil || $0.number > (number ?? 0) }.prefix(limit))
    }

    func rule(_ rulings: [DeliveryRuling]) async -> [Int] {
        var passed: Set<UInt32> = []
        return rulings.map { ruling in
            let meant = remaining.filter { !passed.contains($0.number) }.filter { device in
                switch ruling.devices {
                case .all: true
                case .tagged(let tag): device.tags.contains(tag)
                case .chosen(let numbers): numbers.contains(device.number)
                }
            }
            state.withLock { state in
                state.rulings.append(ruling)
                if ruling.decision != .pass { state.settled.formUnion(meant.map(\.number)) }
            }
            if ruling.decision == .pass { passed.formUnion(meant.map(\.number)) }
            return meant.count
        }
    }
}

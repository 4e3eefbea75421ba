import Bindings
import Foundation
import Lua
import PushModel
import Storage
import Support
import Synchronization
import Testing

@testable import PushLab
@testable import PushServer

/// A folder of plugins and the supervisor that loads it, without a server.
final class PluginFolderBench: Sendable {
    let folder: ScriptFolder
    let clock = VirtualClock(now: EmbeddedWorld.startTime)
    let host: PluginHost
    let versions: PluginVersions
    let supervisor: PluginSupervisor
    private let messages: Messages

    private final class Messages: Sendable {
        let lines = Mutex<[String]>([])
    }

    convenience init(_ files: [String: String]) throws {
        try self.init(over: ScriptFolder(plugins: files))
    }

    /// - Parameter runSpecs: runs in place of the plugins' specs.
    init(over folder: ScriptFolder, runSpecs: (@Sendable (PluginSource) async throws -> Void)? = nil) throws {
        let messages = Messages()
        let thread = LuaThread(name: "world")
        defer { thread.stop() }
        var world = try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: ProjectSecrets(demoFolder: nil))
            .world
        world.plugins = nil
        world.clock = clock
        let log: @Sendable (PluginMessage) -> Void = { message in
            messages.lines.withLock { $0.append("\(message.level.rawValue) \(message.plugin): \(message.text)") }
        }
        host = PluginHost(
            services: PluginServices(
                world: world, keyValues: MemoryKeyValueSpaces(), http: NoOutboundHTTP(), events: PluginEvents(log: log),
                start: { work in Task { await work() } }))
        versions = PluginVersions(path: folder.url.appending(path: "data/plugins").path)
        // Messages show the path as given.
        supervisor = PluginSupervisor(
            folder: PluginFolder(path: folder.url.appending(path: "plugins").path, shown: "plugins"), versions: versions, host: host,
            natives: [], clock: clock, log: log,
            runSpecs: runSpecs ?? { try await PluginSpecCheck(source: $0, module: BindingRegistry.standard).run() })
        self.folder = folder
        self.messages = messages
    }

    var lines: [String] { messages.lines.withLock { $0 } }

    func write(_ file: String, _ text: String) throws { try folder.write("plugins/\(file)", Data(text.utf8)) }

    /// What the route of the plugin `greet` returns; nil if it has no route.
    func word() async throws -> String? {
        guard case .found(let route) = host.route(plugin: "greet", method: "GET", path: ["word"]) else { return nil }
        return String(decoding: try await route.answer(PluginRequest(method: "GET", path: ["word"])).body, as: UTF8.self)
    }
}

extension ScriptFolder {
    convenience init(plugins files: [String: String]) throws {
        try self.init(Dictionary(uniqueKeysWithValues: files.map { ("plugins/\($0.key)", $0.value) }))
    }
}

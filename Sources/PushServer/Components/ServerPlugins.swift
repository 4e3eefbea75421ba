import Bindings
import Delivery
import Logging
import PushHub
import PushLab
import PushModel
import PushRuntime
import RemoteHub
import Storage

/// The plugins of a server: their host, the hubs that they reach, and the supervisor that applies the plugin list.
package final class ServerPlugins: Sendable {
    let host: PluginHost
    let supervisor: PluginSupervisor
    let hubs: ServerHubs
    private let folder: PluginFolder
    private let context: ServerContext

    /// Plugins have the clock of the hubs; the duration of calls is measured by the system clock. In a development server they run on the
    /// lab's thread.
    init(_ storage: ServerStorage, _ sendGuard: SendGuard, _ context: ServerContext) throws(PushError) {
        let (settings, program) = (context.settings.current, context.program)
        let (clock, lab, log) = (context.hubClock, context.lab, context.log)
        let audit = storage.audit
        self.context = context
        folder = PluginFolder(path: settings.plugins)
        let hubs = ServerHubs(name: settings.hub, sendGuard)
        let world = FlowWorld(
            target: FlowWorld.Target(name: "server", isSimulated: false, outlivesRuns: true), module: program.registry,
            hub: hubs, backend: UnavailableBackend(target: "server"), clock: clock, secrets: try ProjectSecrets(demoFolder: nil),
            zones: SystemTimeZones.shared)
        let tell: @Sendable (PluginMessage) -> Void = { message in
            var metadata: Logger.Metadata = message.concernsList ? [:] : ["plugin": "\(message.plugin)", "version": "\(message.version)"]
            if let run = message.run { metadata["run"] = "\(run)" }
            if let location = message.location { metadata["at"] = "\(location)" }
            let level: Logger.Level =
                switch message.level {
                case .info: .info
                case .warn: .warning
                case .error: .error
                }
            log.log(level: level, "\(message.concernsList ? "plugins" : "plugin \(message.plugin)"): \(message.text)", metadata: metadata)
            if let change = message.change { Task { await audit.note(change, of: message) } }
        }
        let relief = MemoryRelief(clock: SystemClock())
        host = PluginHost(
            services: PluginServices(
                world: world,
                hub: { name in
                    // A hub resumes accepted sends at start and asks hooks at once: wait until the hubs have opened.
                    await hubs.opened()
                    return hubs.hub(named: name)
                }, keyValues: storage.engine.keyValues, http: PublicHTTPClient(clock: SystemClock()),
                deadlines: SystemClock(),
                events: PluginEvents(
                    log: tell, onDenial: { denial in Task { await audit.note(denial) } }, onMemoryFreed: { relief.plan() }),
                start: context.start, callTracker: lab?.callTracker))
        self.hubs = hubs
        supervisor = PluginSupervisor(
            folder: folder, versions: PluginVersions(path: context.folder.file("plugins")), host: host, natives: program.plugins,
            clock: clock, log: tell, runSpecs: { try await PluginSpecCheck(source: $0, module: program.registry).run() })
    }

    /// What plugins do with open hubs.
    var activity: PluginActivity { PluginActivity(host: host, hubs: hubs) }

    /// Lets calls fail that wait for hubs, if no hubs will open.
    func close() { hubs.open(nil) }

    /// Applies changes in the folder until the task is cancelled.
    package func keepUp() async {
        let log = context.log
        do throws(PushError) {
            let watch = try FolderWatch(endsWithOutput: false)
            let supervisor = supervisor
            await withTaskCancellationHandler {
                do throws(PushError) {
                    try await supervisor.keepUp(watch)
                    if !Task.isCancelled { log.error("the plugin folder is no longer watched") }
                } catch {
                    log.error("the plugin folder is no longer watched: \(error.message)")
                }
            } onCancel: {
                watch.stop()
            }
        } catch {
            log.error("the plugin folder cannot be watched: \(error.message)")
        }
    }

    /// Sets the metrics of each live plugin: calls, failures, dropped calls, and hooks with an open circuit.
    func measure() {
        let plugins = host.statuses
        let figures: [(String, (PluginStatus) -> Int)] = [
            ("pushhost_plugin_calls_total", \.calls), ("pushhost_plugin_failures_total", \.failures),
            ("pushhost_plugin_dropped_total", \.dropped), ("pushhost_plugin_hooks_open", \.open.count),
        ]
        for (label, figure) in figures {
            context.metrics.replace(
                label, isCounter: label.hasSuffix("_total"), with: plugins.map { ([("plugin", $0.plugin.name)], Double(figure($0))) })
        }
    }
}

extension PluginMessage {
    /// The plugin name of messages about the list itself.
    static let list = ""

    fileprivate var concernsList: Bool { plugin == Self.list }
}

extension AuditLog {
    /// Records a plugin change as the owner's: only the owner can edit the list and the files.
    fileprivate func note(_ change: PluginMessage.Change, of message: PluginMessage) async {
        let details = ["version": message.version, "what": message.text]
        await note(
            .owner, change.action, message.plugin, details, outcome: change == .refused ? .refused : .succeeded)
    }

    /// Records a denied capability, rate-limited because a plugin can repeat the attempt.
    fileprivate func note(_ denial: PluginDenial) async {
        await noteOften(
            .plugin(denial.plugin), .capabilityDenied, denial.capability.description,
            ["function": denial.binding, "version": denial.version], outcome: .refused)
    }
}

extension PluginMessage.Change {
    fileprivate var action: AuditAction {
        switch self {
        case .live: .pluginLive
        case .ended: .pluginEnded
        case .refused: .pluginRefused
        }
    }
}

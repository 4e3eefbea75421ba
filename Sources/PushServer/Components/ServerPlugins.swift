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

    /// - Parameters:
    ///   - clock: the clock of the hubs; the duration of calls is measured by the system clock.
    ///   - lab: the lab of a development server, whose thread plugins run on.
    init(
        _ settings: ServerSettings, data: DataFolder, storage: any StorageEngine, audit: AuditLog, _ sendGuard: SendGuard,
        clock: any HubClock,
        lab: Lab? = nil, log: Logger
    ) throws(PushError) {
        folder = PluginFolder(path: settings.plugins)
        let hubs = ServerHubs(name: settings.hub, sendGuard)
        let world = FlowWorld(
            target: FlowWorld.Target(name: "server", isSimulated: false, outlivesRuns: true), hub: hubs,
            backend: UnavailableBackend(target: "server"),
            lab: nil, wire: nil, clock: clock, secrets: try ProjectSecrets(demoFolder: nil), zones: SystemTimeZones.shared)
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
                }, keyValues: storage.keyValues, http: PublicHTTPClient(clock: SystemClock()),
                deadlines: SystemClock(),
                onDenial: { denial in Task { await audit.note(denial) } }, log: tell,
                start: { work in lab?.thread.start(work) ?? Task { await work() } }, callTracker: lab?.callTracker,
                onMemoryFreed: { relief.plan() }))
        self.hubs = hubs
        supervisor = PluginSupervisor(
            folder: folder, versions: PluginVersions(path: data.file("plugins")), host: host, clock: clock, log: tell)
    }

    /// Lets plugins reach the hubs and starts their timers.
    func open(_ namespace: Namespace) {
        hubs.open(namespace)
        host.startTimers()
    }

    /// Stops the plugins' timers. Call before the hubs stop, even if `open(_:)` was never called.
    func stop() async {
        hubs.open(nil)
        await host.stopTimers()
    }

    /// Applies changes in the folder until the task is cancelled.
    package func keepUp(_ log: Logger) async {
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
}

extension RunningServer {
    /// Sets the metrics of each live plugin: calls, failures, dropped calls, and hooks with an open circuit.
    func measure(_ plugins: [PluginStatus]) {
        let figures: [(String, (PluginStatus) -> Int)] = [
            ("pushhost_plugin_calls_total", \.calls), ("pushhost_plugin_failures_total", \.failures),
            ("pushhost_plugin_dropped_total", \.dropped), ("pushhost_plugin_hooks_open", \.open.count),
        ]
        for (label, figure) in figures {
            metrics.replace(
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

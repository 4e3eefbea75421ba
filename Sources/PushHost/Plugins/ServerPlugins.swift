import Bindings
import Delivery
import Logging
import PushCore
import RemoteHub
import Storage

/// The plugins of a server: what they run against, and who keeps them as they are listed.
final class ServerPlugins: Sendable {
    let host: PluginHost
    let supervisor: PluginSupervisor
    let hubs: ServerHubs
    private let folder: PluginFolder

    /// - Parameters:
    ///   - clock: of the hubs; how long calls may take is measured by the system's.
    ///   - allowsPrivate: whether a grant of a host includes its private addresses. It does not: grants say so themselves.
    init(
        _ settings: ServerSettings, data: DataFolder, storage: any StorageEngine, audit: AuditLog, _ sendGuard: SendGuard,
        clock: any HubClock,
        lab: Lab? = nil, log: Logger
    ) throws(PushError) {
        folder = PluginFolder(path: settings.plugins)
        let hubs = ServerHubs(name: settings.hub, sendGuard)
        let world = FlowWorld(
            target: FlowWorld.Target(name: "server", isSimulated: false, outlivesRuns: true), hub: hubs,
            backend: NoBackend(target: "server"),
            lab: nil, wire: nil, clock: clock, secrets: try ProjectSecrets(demoFolder: nil), zones: SystemTimeZones.shared)
        let tell: @Sendable (PluginMessage) -> Void = { message in
            var metadata: Logger.Metadata = message.isOfList ? [:] : ["plugin": "\(message.plugin)", "version": "\(message.version)"]
            if let run = message.run { metadata["run"] = "\(run)" }
            if let location = message.location { metadata["at"] = "\(location)" }
            let level: Logger.Level =
                switch message.level {
                case .info: .info
                case .warn: .warning
                case .error: .error
                }
            log.log(level: level, "\(message.isOfList ? "plugins" : "plugin \(message.plugin)"): \(message.text)", metadata: metadata)
            if let change = message.change { Task { await audit.note(change, of: message) } }
        }
        let relief = MemoryRelief(clock: SystemClock())
        host = PluginHost(
            services: PluginServices(
                world: world,
                hub: { name in
                    // A hub that begins goes on with what it had accepted, and asks hooks at once.
                    await hubs.opened()
                    return hubs.hub(named: name)
                }, keyValues: storage.keyValues, http: PublicHTTPClient(clock: SystemClock()),
                deadlines: SystemClock(),
                onDenial: { denial in Task { await audit.note(denial) } }, log: tell,
                start: { work in lab?.thread.start(work) ?? Task { await work() } }, attendance: lab?.attendance,
                onRelief: { relief.plan() }))
        self.hubs = hubs
        supervisor = PluginSupervisor(
            folder: folder, versions: PluginVersions(path: data.file("plugins")), host: host, clock: clock, log: tell)
    }

    /// From now on plugins reach the hubs; timers go.
    func open(_ namespace: Namespace) {
        hubs.open(namespace)
        host.startTimers()
    }

    /// Timers ring no more; to be called before the hubs stop, also where they never were reached.
    func stop() async {
        hubs.open(nil)
        await host.stopTimers()
    }

    /// Takes over what changes in the folder, until the task is cancelled.
    func keepUp(_ log: Logger) async {
        do throws(PushError) {
            let watch = try FolderWatch(endsWithOutput: false)
            let supervisor = supervisor
            await withTaskCancellationHandler {
                do throws(PushError) {
                    try await supervisor.keepUp(watch)
                    if !Task.isCancelled { log.error("the folder of plugins is not watched any more") }
                } catch {
                    log.error("the folder of plugins is not watched any more: \(error.message)")
                }
            } onCancel: {
                watch.stop()
            }
        } catch {
            log.error("the folder of plugins is not watched: \(error.message)")
        }
    }
}

extension PushServer {
    /// Of each live plugin its calls, those that failed, those that were left out, and hooks that are left alone.
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
    /// About the list of plugins, and none of them.
    static let list = ""

    fileprivate var isOfList: Bool { plugin == Self.list }
}

extension AuditLog {
    /// The list of plugins and their files are the owner's.
    fileprivate func note(_ change: PluginMessage.Change, of message: PluginMessage) async {
        let details = ["version": message.version, "what": message.text]
        await note(
            .owner, change.action, message.plugin, details, outcome: change == .refused ? .refused : .succeeded)
    }

    /// A plugin can try it again and again.
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

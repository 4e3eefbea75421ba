import Glibc
package import Logging
import PushModel

/// Reloads the settings of a running server and applies those that can change while it runs.
package actor SettingsReload {
    private let source: SettingsSource
    /// The settings file read at the start.
    private let file: String?
    private let server: RunningServer
    private let style: LogStyle
    private let log: Logger
    /// The settings in effect.
    private var given: ConfiguredSettings

    package init(_ source: SettingsSource, _ given: ConfiguredSettings, _ server: RunningServer, _ style: LogStyle, _ log: Logger) {
        (self.source, self.given, self.server, self.style, self.log) = (source, given, server, style, log)
        file = source.file
    }

    /// Reloads the settings. If any setting is invalid, nothing changes and every fault is logged.
    package func run() async {
        // The cause of a refused plugin may have been fixed.
        await server.plugins.supervisor.retry()
        // Without the file every setting would revert to its default.
        if let file, access(file, F_OK) != 0 {
            log.error("the previous settings stay in effect: \(file) is missing")
            return
        }
        let new: ConfiguredSettings
        do throws(PushError) {
            new = try source.read()
        } catch {
            let faults = error.details["faults"]?.array?.compactMap(\.string) ?? [error.message]
            for fault in faults { log.error("invalid setting: \(fault)") }
            log.error("the previous settings stay in effect")
            return
        }
        let changes = given.changes(in: new)
        let haveFlowsChanged = given.flows != new.flows
        given.takeLive(from: new)
        // A higher log level applies after the messages below, a lower one before them.
        let isQuieter = LogStyle(given.settings).level > style.level
        if !isQuieter { style.change(given.settings) }
        defer { style.change(given.settings) }
        await server.change(given.settings)
        let applied = changes.filter(\.isReloadable).map(\.name) + (haveFlowsChanged ? [FlowSettingsReader.group] : [])
        if !applied.isEmpty { log.notice("changed settings: \(applied.joined(separator: ", "))") }
        if !changes.isEmpty { await server.audit.noteSettings(changes) }
        for setting in changes where !setting.isReloadable {
            log.warning("the setting \(setting.name) has changed: restart the server to apply it")
        }
        if changes.isEmpty, !haveFlowsChanged { log.notice("the settings were reloaded: no changes") }
    }
}

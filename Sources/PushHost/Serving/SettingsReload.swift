import Glibc
import Logging
import PushCore

/// Reads the settings of a running server again, and applies what can change while it runs.
actor SettingsReload {
    private let source: SettingsSource
    /// What was read at the start.
    private let file: String?
    private let server: PushServer
    private let style: LogStyle
    private let log: Logger
    /// What the server works with.
    private var given: GivenSettings

    init(_ source: SettingsSource, _ given: GivenSettings, _ server: PushServer, _ style: LogStyle, _ log: Logger) {
        (self.source, self.given, self.server, self.style, self.log) = (source, given, server, style, log)
        file = source.file
    }

    /// Where one setting is wrong none is changed, and the log has every fault.
    func run() async {
        // What a plugin lacked may be there now.
        await server.plugins.supervisor.retry()
        // Without it every setting would have its default again.
        if let file, access(file, F_OK) != 0 {
            log.error("the settings stay as they were: \(file) is gone")
            return
        }
        let new: GivenSettings
        do throws(PushError) {
            new = try source.read()
        } catch {
            let faults = error.details["faults"]?.array?.compactMap(\.string) ?? [error.message]
            for fault in faults { log.error("a setting is wrong: \(fault)") }
            log.error("the settings stay as they were")
            return
        }
        let changes = given.changes(in: new)
        let areFlowsOther = given.flows != new.flows
        given.takeLive(from: new)
        // Whoever asks for less is told once more, and whoever asks for more from here on.
        let isQuieter = LogStyle(given.settings).level > style.level
        if !isQuieter { style.change(given.settings) }
        defer { style.change(given.settings) }
        await server.change(given.settings)
        let applied = changes.filter(\.isLive).map(\.name) + (areFlowsOther ? [FlowsReading.group] : [])
        if !applied.isEmpty { log.notice("settings were changed: \(applied.joined(separator: ", "))") }
        if !changes.isEmpty { await server.audit.noteSettings(changes) }
        for setting in changes where !setting.isLive {
            log.warning("the setting \(setting.name) has changed: it holds from the next start on")
        }
        if changes.isEmpty, !areFlowsOther { log.notice("the settings were read again: none has changed") }
    }
}

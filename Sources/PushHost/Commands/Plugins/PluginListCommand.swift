import ArgumentParser
import Bindings
import Lua
import PushLab
import PushModel
import PushRuntime
import PushServer

struct PluginListCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List plugins: live versions, rejected versions with the reasons, and grants.",
        discussion: """
            If a server uses the data folder, its current state is shown.

            Example: pushhost plugin list
            """)

    @OptionGroup
    var options: PluginOptions

    func run(in program: HostProgram) async {
        await options.session.run { () async throws(PushError) in
            let settings = try options.settings()
            let folder = PluginFolder(path: settings.plugins)
            let served = try await PluginOptions.served(settings)
            var plugins = served?["plugins"]?.array ?? []
            let (fault, isRunning) = (served?["list"]?.string, served != nil)
            if !isRunning {
                for entry in try PluginListFile(folder).list().entries {
                    plugins.append(try await Self.report(entry, folder, settings, program))
                }
            }
            let listed = Set(plugins.compactMap { $0["name"]?.string })
            let others = (folder.names + program.plugins.map(\.name)).filter { !listed.contains($0) }
            let shown = plugins
            return CommandResult(
                json: .object([
                    "running": .bool(isRunning), "plugins": .array(plugins), "fault": fault.map(JSON.string) ?? .null,
                    "unlisted": .array(others.map(JSON.string)),
                ])
            ) { palette in
                var lines = isRunning ? [] : [palette.dim("no server is running on \(settings.data); showing what a server would load")]
                if let fault { lines.append("\(palette.red("✗")) the server continues with the previous list: \(fault)") }
                if shown.isEmpty { lines.append("\(folder.listPath) lists no plugins; add one with pushhost plugin enable NAME") }
                for plugin in shown { lines += Self.lines(plugin, isRunning: isRunning, palette) }
                if !others.isEmpty { lines.append("not listed: \(others.joined(separator: ", "))") }
                return lines
            }
        }
    }

    /// Reports how a listed plugin would start.
    private static func report(_ entry: PluginList.Entry, _ folder: PluginFolder, _ settings: ServerSettings, _ program: HostProgram)
        async throws(PushError)
        -> JSON
    {
        let versions = PluginVersions(path: "\(settings.data)/plugins")
        var report = PluginReport(entry, versions: versions.versions(of: entry.name))
        report.last = versions.last(of: entry.name)
        do {
            report.status = PluginStatus(unused: try await PluginProbe(folder: folder, program: program).tried(entry, versions: versions))
        } catch let error as PushError {
            report.refusal = LuaError(error)
        } catch let error as LuaError {
            report.refusal = error
        } catch {}
        return report.json
    }

    private static func version(_ live: JSON) -> String {
        let (version, release) = (live["version"]?.string ?? "", live["release"]?.string ?? "")
        return version == NativePluginType.version ? "native (\(release))" : "version \(version) (\(release))"
    }

    private static func lines(_ plugin: JSON, isRunning: Bool, _ palette: Palette) -> [String] {
        let name = plugin["name"]?.string ?? ""
        func texts(_ value: JSON?) -> [String] { (value?.array ?? []).compactMap(\.string) }
        func line(_ label: String, _ text: String) -> String { "  \(label.padded(to: 10))\(text)" }
        let live = plugin["live"]
        let pinned = plugin["pinned"]?.string.map { ", pinned to \($0)" } ?? ""
        var state =
            plugin["enabled"] == false
            ? "disabled" : live.map { Self.version($0) + pinned } ?? "not live"
        if let open = live?["open"]?.array, !open.isEmpty { state += ", suspended" }
        var lines = ["\(palette.bold(name))  \(state)"]
        if let refused = plugin["refused"] {
            let location = refused["at"]?.string.map { "\($0): " } ?? ""
            let version = refused["version"]?.string.map { "\($0): " } ?? ""
            lines.append(line("refused", "\(version)\(location)\(refused["message"]?.string ?? "") (\(refused["code"]?.string ?? ""))"))
            if !isRunning, plugin["enabled"] != false, plugin["pinned"]?.string == nil,
                let last = plugin["last"]?.string
            {
                lines.append(line("instead", "a server starts with version \(last), the last live one"))
            }
        }
        if let trying = plugin["trying"]?.string { lines.append(line("trying", "\(trying): its specs are running")) }
        let withheld = texts(plugin["withheld"])
        if !withheld.isEmpty {
            lines.append(line("refuses", "all calls of \(withheld.joined(separator: ", ")): fail_closed, and not live"))
        }
        if let live {
            let hooks = texts(live["hooks"])
            if !hooks.isEmpty { lines.append(line("hooks", hooks.joined(separator: ", "))) }
            for route in texts(live["routes"]) { lines.append(line("route", route)) }
            for flow in texts(live["flows"]) { lines.append(line("flow", "pushhost run \(name):\(flow)")) }
            for timer in texts(live["timers"]) { lines.append(line("every", timer)) }
            for open in live["open"]?.array ?? [] {
                lines.append(line("open", "\(open["hook"]?.string ?? "") \(PluginChecks.words(open))"))
            }
            if let calls = live["calls"]?.int, calls > 0 {
                let failures = live["failures"]?.int ?? 0
                lines.append(line("calls", "\(calls), \(failures) failed"))
            }
            if let error = live["lastError"]?.string { lines.append(line("last", error)) }
            for capability in texts(live["missing"]) {
                lines.append(line("lacks", "\(capability): pushhost plugin grant \(name) \(capability)"))
            }
        }
        let grants = texts(plugin["grants"])
        if !grants.isEmpty { lines.append(line("may", grants.joined(separator: ", "))) }
        let versions = (plugin["versions"]?.array ?? []).compactMap { $0["version"]?.string }
        if versions.count > 1 { lines.append(line("versions", versions.joined(separator: ", "))) }
        return lines
    }
}

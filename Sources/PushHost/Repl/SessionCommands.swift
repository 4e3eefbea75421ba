import Bindings
import Lua
import PushModel
import PushRuntime

/// The commands that begin with a dot: they inspect the session without Lua.
struct SessionCommands {
    let world: FlowWorld
    let registry: BindingRegistry
    let output: Output
    let text: TextReport
    /// Shows an error.
    let reportError: (LuaError) -> Void

    private static let commands: [(name: String, summary: String)] = [
        (".help [NAME]", "list all functions, or explain NAME"), (".devices", "list the phones"),
        (".wire [SERVICE]", "show the requests to all push services, or to one"), (".clock", "show the session's time"),
        (".quit", "end the session (also Ctrl-D)"),
    ]

    /// Performs a command. Returns `false` if it ends the session.
    func perform(_ line: String) async -> Bool {
        let words = line.split(separator: " ").map(String.init)
        let argument = words.dropFirst().first
        switch words[0] {
        case ".quit", ".exit": return false
        case ".help": help(words.count > 1 ? words.dropFirst().joined(separator: " ") : nil)
        case ".clock": output.line(world.clock.now.description)
        case ".devices": await listDevices()
        case ".wire": await showWire(argument)
        case let name:
            let names = Self.commands.map { String($0.name.prefix { $0 != " " }) }
            let near = nearest(name, in: names).map { "; did you mean \($0)?" } ?? ""
            reportError(LuaError(PushError("repl.unknown_command", "unknown command \(name)\(near)", hint: names.joined(separator: ", "))))
        }
        return true
    }

    private func help(_ name: String?) {
        let report = ExplainReport(registry: registry, palette: Palette(isOn: output.hasColour))
        guard let name else {
            for command in Self.commands { output.line("\(command.name.padded(to: 18))\(command.summary)") }
            for line in report.index() { output.line(line) }
            return
        }
        let index = ReferenceIndex(registry, notes: ProgramNotes.all)
        let answer = index.answer(to: name)
        guard !answer.isEmpty else {
            let near = index.suggestions(for: name).first.map { "; did you mean \($0)?" } ?? ""
            return reportError(
                LuaError(PushError("repl.unknown_name", "unknown name \"\(name)\"\(near)", hint: ".help lists all names")))
        }
        for line in report.text(answer) { output.line(line) }
    }

    private func listDevices() async {
        guard let lab = world.lab else { return }
        for id in await lab.devices() {
            guard let device = try? await lab.device(id) else { continue }
            let handle = (try? await lab.handle(of: id))?.abbreviated ?? "not installed"
            let facts = [device.name.padded(to: 12), device.platform.shortName.padded(to: 6), device.locale.padded(to: 7), handle]
            output.line((facts + [device.user].compactMap(\.self)).joined(separator: "  ").printable)
        }
    }

    private func showWire(_ name: String?) async {
        var service: Platform?
        if let name {
            guard let platform = Platform(name: name) else {
                let near = nearest(name, in: Platform.spellings).map { "; did you mean \"\($0)\"?" } ?? ""
                return reportError(
                    LuaError(
                        kind: .misuse, code: "args.platform", message: "unknown service \"\(name)\"\(near)",
                        hint: "platforms are \(Platform.spellings.joined(separator: ", "))"))
            }
            // GCM registrations are delivered through FCM's v1 API: both platforms share one wire.
            service = platform == .gcm ? .fcmV1 : platform
        }
        do throws(PushError) {
            for exchange in try await world.wire?.exchanges(with: service) ?? [] { text.take(.crossed(exchange)) }
        } catch {
            reportError(LuaError(error))
        }
    }
}

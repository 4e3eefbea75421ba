import Bindings
import Lua
import PushCore

// Lines that begin with a dot: what a person wants to know of the session, without a word of Lua.
extension ReplSession {
    private static let commands: [(name: String, summary: String)] = [
        (".help [NAME]", "what there is to call, or what NAME does"), (".devices", "the phones"),
        (".wire [SERVICE]", "what crossed the wires of the push services, or of one"), (".clock", "the session's time"),
        (".quit", "ends the session, as Ctrl-D does"),
    ]

    /// False when the session is to end.
    func perform(_ line: String) async -> Bool {
        let words = line.split(separator: " ").map(String.init)
        let argument = words.dropFirst().first
        switch words[0] {
        case ".quit", ".exit": return false
        case ".help": help(argument)
        case ".clock": output.line(world.clock.now.description)
        case ".devices": await listDevices()
        case ".wire": await showWire(argument)
        case let name:
            let names = Self.commands.map { String($0.name.prefix { $0 != " " }) }
            let near = nearest(name, in: names).map { "; did you mean \($0)?" } ?? ""
            tell(LuaError(PushError("repl.unknown_command", "there is no command \(name)\(near)", hint: names.joined(separator: ", "))))
        }
        return true
    }

    private func help(_ name: String?) {
        let report = ExplainReport(palette: Palette(isOn: output.hasColour))
        guard let name else {
            for command in Self.commands { output.line("\(command.name.padded(to: 18))\(command.summary)") }
            for line in report.index() { output.line(line) }
            return
        }
        let topics = ReferenceTopic.topics(for: name)
        guard !topics.isEmpty else {
            let near = ReferenceTopic.suggestions(for: name).first.map { "; did you mean \($0)?" } ?? ""
            return tell(
                LuaError(PushError("repl.unknown_name", "there is nothing called \"\(name)\"\(near)", hint: ".help lists all names")))
        }
        for line in topics.count == 1 ? report.page(topics[0]) : report.list(topics) { output.line(line) }
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
                return tell(
                    LuaError(
                        kind: .misuse, code: "args.platform", message: "there is no wire \"\(name)\"\(near)",
                        hint: "platforms are \(Platform.spellings.joined(separator: ", "))"))
            }
            // Legacy registrations are served through FCM's v1 interface: one wire.
            service = platform == .gcm ? .fcmV1 : platform
        }
        do throws(PushError) {
            for exchange in try await world.wire?.exchanges(with: service) ?? [] { text.take(.crossed(exchange)) }
        } catch {
            tell(LuaError(error))
        }
    }
}

import ArgumentParser
import Bindings
import Glibc

/// Prints what is made of the registry and the catalogue, for the documentation and for editors.
struct ReferenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference",
        abstract: "Print a text that is made of the descriptions of the push module.",
        shouldDisplay: false)

    enum Page: String, CaseIterable, ExpressibleByArgument {
        case lua, errors, phases, settings, stubs, luacheck

        var text: String {
            switch self {
            case .lua: LuaReference.text
            case .errors: ErrorReference.text
            case .phases: PhaseReference.text
            case .settings: SettingsReference.text
            case .stubs: EditorStub.text
            case .luacheck: LuacheckProfile.text
            }
        }
    }

    @Argument(help: "lua, errors, phases and settings are pages of the documentation, stubs are for editors, luacheck is a profile.")
    var page: Page

    func run() {
        let output = Output(descriptor: STDOUT_FILENO)
        // Each text ends with its own line break.
        output.line(String(page.text.dropLast()))
        let isWritten = output.finish(reportingTo: Output(descriptor: STDERR_FILENO))
        Glibc.exit(isWritten ? ExitStatus.pass : ExitStatus.failed)
    }
}

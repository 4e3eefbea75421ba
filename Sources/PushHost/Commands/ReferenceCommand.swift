import ArgumentParser
import Bindings
import Glibc
import PushServer

/// Prints pages generated from the descriptions of the push module and from the error catalogue, for the documentation and for editors.
struct ReferenceCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference",
        abstract: "Print a page generated from the descriptions of the push module, the errors or the settings.",
        discussion: "Example: pushhost reference settings")

    enum Page: String, CaseIterable, ExpressibleByArgument {
        case lua, errors, phases, settings, stubs, luacheck

        func text(_ registry: BindingRegistry) -> String {
            switch self {
            case .lua: LuaReference(registry).text
            case .errors: ErrorReference(registry).text
            case .phases: PhaseReference(registry).text
            case .settings: SettingsReference.text
            case .stubs: EditorStub(registry).text
            case .luacheck: LuacheckProfile.text
            }
        }
    }

    @Argument(help: "A page of the documentation (lua, errors, phases, settings), the stubs for editors, or the profile for luacheck.")
    var page: Page

    func run(in program: HostProgram) {
        let output = Output(descriptor: STDOUT_FILENO)
        // `line` adds the line break that each text already ends with.
        output.line(String(page.text(program.registry).dropLast()))
        let isWritten = output.finish(reportingTo: Output(descriptor: STDERR_FILENO))
        Glibc.exit(isWritten ? ExitStatus.pass : ExitStatus.failed)
    }
}

import ArgumentParser
import Bindings
import Glibc
import Lua
import PushCore

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Begin a project: a flow, its spec, and what editors and linters need.",
        discussion: "Overwrites nothing: where one of its files is there already, it names them and writes none.")

    @Argument(help: "The project's folder; made if it does not exist.", completion: .directory)
    var folder = "."

    func validate() throws {
        guard !folder.isEmpty else { throw ValidationError("name a folder") }
    }

    func run() {
        let output = Output(descriptor: STDOUT_FILENO)
        let errors = Output(descriptor: STDERR_FILENO)
        do throws(PushError) {
            try NewProject(folder: folder).write()
            output.line(folder == "." ? "Wrote" : "Wrote to \(folder.printable)")
            for file in NewProject.files { output.line("  \(file.path.padded(to: 30))\(file.purpose)") }
            output.line()
            output.line("Next")
            if folder != "." { output.line("  cd \(folder.quotedForShell.printable)") }
            output.line("  \("pushhost run scripts/welcome.lua".padded(to: 38))run the flow")
            output.line("  \("pushhost test".padded(to: 38))run its spec")
            output.line("  \("pushhost explain".padded(to: 38))list what a flow can do")
        } catch {
            let diagnostic = Diagnostic(LuaError(error), source: [], scriptName: "", palette: Palette(isOn: errors.hasColour))
            for line in diagnostic.lines { errors.line(line) }
            _ = errors.finish()
            Glibc.exit(error.code == "init.exists" ? ExitStatus.usage : ExitStatus.failed)
        }
        let isWritten = output.finish(reportingTo: errors)
        Glibc.exit(isWritten ? ExitStatus.pass : ExitStatus.failed)
    }
}

extension String {
    /// As one word of a shell's line.
    fileprivate var quotedForShell: String {
        let plain = unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || "/._-+@%:,".unicodeScalars.contains($0)
        }
        return plain && !hasPrefix("-") ? self : (hasPrefix("-") ? "./" : "") + "'\(replacing("'", with: "'\\''"))'"
    }
}

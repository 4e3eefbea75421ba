import ArgumentParser
import Bindings
import Glibc
import Lua
import PushModel
import PushRuntime

struct InitCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create a project with a flow, its spec and settings for editors and linters.",
        discussion: """
            Does not overwrite files: if one of them exists, nothing is written.

            Example: pushhost init my-flows
            """)

    @Argument(help: "Folder of the project; created if it does not exist.", completion: .directory)
    var folder = "."

    func validate() throws {
        guard !folder.isEmpty else {
            throw ValidationError.usage("FOLDER is empty", hint: "name a folder, or leave it out for the working directory")
        }
    }

    func run(in program: HostProgram) {
        let output = Output(descriptor: STDOUT_FILENO)
        let errors = Output(descriptor: STDERR_FILENO)
        do throws(PushError) {
            let project = NewProject(folder: folder, registry: program.registry)
            let isEmpty = project.isFolderEmpty
            try project.write()
            if isEmpty {
                output.line(folder == "." ? "Wrote" : "Wrote to \(folder.printable)")
            } else {
                let place = folder == "." ? "the working directory" : folder.printable
                output.line("Added to \(place), which has other files; none of them was changed")
            }
            for file in project.files { output.line("  \(file.path.padded(to: 30))\(file.purpose)") }
            output.line()
            output.line("Next")
            if folder != "." { output.line("  cd \(folder.quotedForShell.printable)") }
            output.line("  \("pushhost run scripts/welcome.lua".padded(to: 38))run the flow")
            output.line("  \("pushhost test".padded(to: 38))run its spec")
            output.line("  \("pushhost explain".padded(to: 38))list the functions for flows")
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
    /// Quoted so that a shell reads it as one word.
    fileprivate var quotedForShell: String {
        let plain = unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || "/._-+@%:,".unicodeScalars.contains($0)
        }
        return plain && !hasPrefix("-") ? self : (hasPrefix("-") ? "./" : "") + "'\(replacing("'", with: "'\\''"))'"
    }
}

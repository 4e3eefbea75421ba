import ArgumentParser
import FoundationEssentials
import Glibc
import PushCore

struct AuditExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "The whole audit log as lines of JSON, which others can check.",
        discussion: """
            Each line has the content of an entry as it is hashed (an array, written as RFC 8785 has it), its hash, and the hash before \
            it. pushhost audit verify FILE checks such a file; the guide shows how to do it in a few lines of Python.
            """)

    @Option(help: "The file to make; standard output if absent.", completion: .file())
    var out: String?

    @Flag(help: "Replace the file if there is one.")
    var force = false

    @OptionGroup
    var server: ServerOptions

    func validate() throws {
        guard !server.json || out != nil else { throw ValidationError("--json tells of the file that --out names: give one") }
    }

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            try await AuditSource.with(try server.target()) { source throws(PushError) in
                guard let out else {
                    let output = Output(descriptor: STDOUT_FILENO)
                    _ = try await AuditExport.write(source) { output.line($0.text()) }
                    _ = output.finish()
                    return CommandResult(json: .null) { _ in [] }
                }
                let end = try await write(source, to: out)
                return CommandResult(json: ["file": .string(out), "end": .string(end.text), "entries": .integer(end.sequence)]) {
                    ["\($0.green("✓")) \(end.sequence) entries in \(out.printable)", "  end  \(end.text)"]
                }
            }
        }
    }

    /// Under another name until all of it is there.
    private func write(_ source: AuditSource, to path: String) async throws(PushError) -> AuditEnd {
        guard force || access(path, F_OK) != 0 else {
            throw PushError("audit.file", "there is a file \(path) already", hint: "name another, or say --force")
        }
        let partial = "\(path).\(getpid()).part"
        guard let file = fopen(partial, "wxe") else { throw Self.failure(path) }
        defer { unlink(partial) }
        let end: AuditEnd
        do throws(PushError) {
            end = try await AuditExport.write(source) { json throws(PushError) in
                let line = json.text() + "\n"
                guard fwrite(line, 1, line.utf8.count, file) == line.utf8.count else { throw Self.failure(path) }
            }
        } catch {
            fclose(file)
            throw error
        }
        guard fflush(file) == 0, fsync(fileno(file)) == 0 else {
            fclose(file)
            throw Self.failure(path)
        }
        fclose(file)
        guard rename(partial, path) == 0 else { throw Self.failure(path) }
        return end
    }

    private static func failure(_ path: String) -> PushError {
        PushError(
            "audit.file", "\(path) cannot be written: \(String(cString: strerror(errno)))",
            hint: "look at the folder, its permissions and the room on its disk")
    }
}

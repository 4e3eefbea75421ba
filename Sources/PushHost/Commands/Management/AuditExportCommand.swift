import ArgumentParser
import FoundationEssentials
import Glibc
import PushModel
import PushRuntime

struct AuditExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export the audit log as JSON lines that others can verify.",
        discussion: """
            Each line has an entry's content as it is hashed (an array in the form of RFC 8785), its hash, and the hash before it. \
            pushhost audit verify FILE verifies such a file; docs/how-to/approvals-and-audit.md shows how to do it in Python.

            Example: pushhost audit export --out audit.jsonl
            """)

    @Option(help: ArgumentHelp("File to create. (default: standard output)", valueName: "file"), completion: .file())
    var out: String?

    @Flag(help: "Replace the file if it exists.")
    var force = false

    @OptionGroup
    var server: ServerOptions

    func validate() throws {
        guard !server.json || out != nil else {
            throw ValidationError.usage("--json needs --out", hint: "add --out FILE, or remove --json")
        }
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
                    ["\($0.green("✓")) exported \(end.sequence) entries to \(out.printable)", "  head  \(end.text)"]
                }
            }
        }
    }

    /// Writes to a temporary file first, and renames it once it is complete.
    private func write(_ source: AuditSource, to path: String) async throws(PushError) -> AuditHead {
        guard force || access(path, F_OK) != 0 else {
            throw PushError("audit.file", "the file \(path) already exists", hint: "name another, or pass --force to replace it")
        }
        let partial = "\(path).\(getpid()).part"
        guard let file = fopen(partial, "wxe") else { throw Self.failure(path) }
        defer { unlink(partial) }
        let end: AuditHead
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
            hint: "check the folder, its permissions and the free disk space")
    }
}

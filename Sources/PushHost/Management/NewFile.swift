import Glibc
import PushModel

/// Writes lines to a file that appears under its name once it is complete, readable by its owner only; or to standard output.
final class NewFile {
    private let path: String
    private let partial: String
    private var file: UnsafeMutablePointer<FILE>?

    /// - Parameter path: `-` for standard output. Throws `usage.value` if the file exists, and `output.failed`.
    init(_ path: String, replacing: Bool) throws(PushError) {
        self.path = path
        partial = "\(path).\(getpid()).part"
        guard path != "-" else {
            file = fdopen(dup(STDOUT_FILENO), "w")
            return
        }
        guard replacing || access(path, F_OK) != 0 else {
            throw PushError("usage.value", "the file \(path) already exists", hint: "name another, or pass --force to replace it")
        }
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0, let file = fdopen(descriptor, "w") else { throw failure }
        self.file = file
    }

    deinit {
        guard let file else { return }
        fclose(file)
        if path != "-" { unlink(partial) }
    }

    /// Writes a line. Throws `output.failed`.
    func line(_ text: String) throws(PushError) {
        guard let file, fputs("\(text)\n", file) >= 0 else { throw failure }
    }

    /// Gives the file its name. Throws `output.failed`.
    func finish() throws(PushError) {
        guard let file else { return }
        guard fflush(file) == 0, path == "-" || fsync(fileno(file)) == 0 && rename(partial, path) == 0 else { throw failure }
        fclose(file)
        self.file = nil
    }

    private var failure: PushError {
        PushError(
            "output.failed", "\(path) cannot be written: \(String(cString: strerror(errno)))",
            hint: "check the folder, its permissions and the free disk space")
    }
}

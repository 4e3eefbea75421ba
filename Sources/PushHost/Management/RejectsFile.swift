import Glibc
import PushModel

/// Writes the lines that an import rejects to a file, which is created with the first of them.
final class RejectsFile {
    let path: String
    /// Whether to continue an existing file.
    private let isContinued: Bool
    private var file: UnsafeMutablePointer<FILE>?

    init(_ path: String, isContinued: Bool) { (self.path, self.isContinued) = (path, isContinued) }

    deinit { if let file { fclose(file) } }

    /// Throws `output.failed`.
    func write(_ rejection: DeviceImporter.Rejection) throws(PushError) {
        if file == nil {
            let isNew = !isContinued || access(path, F_OK) != 0
            file = fopen(path, isContinued ? "ae" : "we")
            if isNew { try put("line,code,reason") }
        }
        try put(rejection.csv)
    }

    /// Throws `output.failed` if something could not be written.
    func finish() throws(PushError) {
        guard let file else { return }
        self.file = nil
        guard fclose(file) == 0 else { throw failure }
    }

    private func put(_ line: String) throws(PushError) {
        guard let file, fputs("\(line)\n", file) >= 0 else { throw failure }
    }

    private var failure: PushError {
        PushError(
            "output.failed", "\(path) cannot be written: \(String(cString: strerror(errno)))",
            hint: "name another file with --rejects")
    }
}

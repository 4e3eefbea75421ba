import Glibc
import PushCore

/// A file of results: there is the whole of it, or what was there before.
enum ResultFile {
    /// Throws `output.failed`.
    static func write(_ bytes: [UInt8], to path: String) throws(PushError) {
        let draft = "\(path).part"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(path) }
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = failure(path)
                close(descriptor)
                unlink(draft)
                throw error
            }
            start += count
        }
        guard close(descriptor) == 0, rename(draft, path) == 0 else {
            let error = failure(path)
            unlink(draft)
            throw error
        }
    }

    private static func failure(_ path: String) -> PushError {
        PushError(
            "output.failed", "\(path) cannot be written: \(String(cString: strerror(errno)))",
            hint: "choose a folder that exists, on a disk with room")
    }
}

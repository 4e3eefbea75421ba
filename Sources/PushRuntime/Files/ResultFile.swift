import Glibc
package import PushModel

/// Writes result files atomically: a reader sees the old or the complete new content. Pipes and devices are written to directly; symbolic
/// links are followed.
package enum ResultFile {
    /// Writes the file. Throws `output.failed`.
    package static func write(_ bytes: [UInt8], to path: String, permissions: UInt32 = 0o644) throws(PushError) {
        let target = realpath(path, nil).map { resolved in
            defer { free(resolved) }
            return String(cString: resolved)
        }
        let isOther = access(path, F_OK) == 0 && !(target.map(isPlain) ?? false)
        let file = isOther ? path : target ?? path
        let draft = isOther ? path : "\(file).\(getpid()).part"
        let descriptor = open(draft, isOther ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { throw failure(path) }
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = failure(path)
                close(descriptor)
                if !isOther { unlink(draft) }
                throw error
            }
            start += count
        }
        guard close(descriptor) == 0, isOther || rename(draft, file) == 0 else {
            let error = failure(path)
            if !isOther { unlink(draft) }
            throw error
        }
    }

    /// Whether the path is a regular file. Does not use `stat`, whose import would bring in all of Foundation.
    private static func isPlain(_ path: String) -> Bool {
        guard !path.hasPrefix("/dev/") else { return false }
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        // The file may be writable but not readable.
        guard descriptor >= 0 else { return errno == EACCES }
        defer { close(descriptor) }
        return lseek(descriptor, 0, SEEK_END) >= 0
    }

    private static func failure(_ path: String) -> PushError {
        PushError(
            "output.failed", "\(path) cannot be written: \(String(cString: strerror(errno)))",
            hint: "use an existing folder on a disk with free space")
    }
}

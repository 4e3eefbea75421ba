import Glibc
import PushModel
import PushRuntime

/// An open folder. Paths below it are never followed through symbolic links.
final class FolderDescriptor: Sendable {
    let number: Int32
    let path: String

    /// Opens a folder. Follows symbolic links, because the operator chose the path.
    init(_ path: String) throws(PushError) {
        number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        self.path = path
        guard number >= 0 else { throw JobFailure.file(path, errno) }
    }

    private init(_ name: String, in parent: FolderDescriptor) throws(PushError) {
        path = "\(parent.path)/\(name)"
        number = openat(parent.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw JobFailure.file(path, errno) }
    }

    deinit { if number >= 0 { close(number) } }

    func entering(_ names: some Sequence<String>, makes: Bool) throws(PushError) -> FolderDescriptor {
        var folder = self
        for name in names {
            if makes, mkdirat(folder.number, name, 0o750) != 0, errno != EEXIST {
                throw JobFailure.file("\(folder.path)/\(name)", errno)
            }
            folder = try FolderDescriptor(name, in: folder)
        }
        return folder
    }
}

/// The file that an import job reads.
final class JobFileInput: JobInput {
    static let pieceSize = 64 << 10

    let size: Int64
    private let number: Int32
    private let path: String

    /// Opens a file; blocks. Only regular files are accepted.
    init(_ name: String, in folder: FolderDescriptor) throws(PushError) {
        path = "\(folder.path)/\(name)"
        number = openat(folder.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        // Only files are seekable; reading a folder fails. (A statically linked program has no fstat.)
        let end = number < 0 ? -1 : lseek(number, 0, SEEK_END)
        guard end >= 0, lseek(number, 0, SEEK_SET) == 0, Glibc.read(number, nil, 0) == 0 else { throw JobFailure.file(path, errno) }
        size = Int64(end)
    }

    deinit { if number >= 0 { close(number) } }

    func next() async throws(PushError) -> [UInt8]? {
        try await blocking { [self] () throws(PushError) in try readPiece(number, path) }
    }
}

/// The file that a job writes, under a temporary name until it is finished.
final class JobFileOutput: JobOutput {
    private let folder: FolderDescriptor
    private let name: String
    private let number: Int32

    private var partial: String { ".\(name).partial" }
    private var path: String { "\(folder.path)/\(name)" }

    /// Creates the file; blocks.
    init(_ name: String, in folder: FolderDescriptor) throws(PushError) {
        self.name = name
        self.folder = folder
        number = openat(folder.number, ".\(name).partial", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o640)
        guard number >= 0 else { throw JobFailure.file(path, errno) }
    }

    deinit { if number >= 0 { close(number) } }

    func write(_ bytes: [UInt8]) async throws(PushError) {
        try await blocking { [self] () throws(PushError) in try writeAll(bytes, to: number, path) }
    }

    func finish() async throws(PushError) {
        try await blocking { [self] () throws(PushError) in
            guard fsync(number) == 0, renameat(folder.number, partial, folder.number, name) == 0, fsync(folder.number) == 0 else {
                let reason = errno
                unlinkat(folder.number, partial, 0)
                throw JobFailure.file(path, reason)
            }
        }
    }

    func discard() async {
        try? await blocking { [self] () throws(PushError) in _ = unlinkat(folder.number, partial, 0) }
    }
}

/// An unlinked temporary file, which is deleted when it is closed.
final class TemporaryFile: JobInput {
    let number: Int32
    let path: String

    /// Creates and unlinks the file; blocks.
    init(path: String) throws(PushError) {
        self.path = path
        number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw JobFailure.file(path, errno) }
        unlink(path)
    }

    deinit { if number >= 0 { close(number) } }

    var size: Int64 {
        let position = lseek(number, 0, SEEK_CUR)
        defer { lseek(number, position, SEEK_SET) }
        return Int64(max(0, lseek(number, 0, SEEK_END)))
    }

    func write(_ bytes: [UInt8]) async throws(PushError) {
        try await blocking { [self] () throws(PushError) in try writeAll(bytes, to: number, path) }
    }

    /// Moves to the first byte for the next read.
    func rewind() { lseek(number, 0, SEEK_SET) }

    func next() async throws(PushError) -> [UInt8]? {
        try await blocking { [self] () throws(PushError) in try readPiece(number, path) }
    }
}

enum JobFailure {
    static func file(_ path: String, _ number: Int32) -> PushError {
        PushError(
            "job.files", "a job cannot use \(path): \(String(cString: strerror(number)))",
            hint: "check the file and its permissions", status: 502)
    }
}

private func readPiece(_ number: Int32, _ path: String) throws(PushError) -> [UInt8]? {
    while true {
        var count = 0
        let piece = [UInt8](unsafeUninitializedCapacity: JobFileInput.pieceSize) { buffer, initialized in
            count = read(number, buffer.baseAddress, buffer.count)
            initialized = max(0, count)
        }
        if count >= 0 { return count == 0 ? nil : piece }
        guard errno == EINTR else { throw JobFailure.file(path, errno) }
    }
}

private func writeAll(_ bytes: [UInt8], to number: Int32, _ path: String) throws(PushError) {
    var start = 0
    while start < bytes.count {
        let count = bytes[start...].withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
        if count >= 0 {
            start += count
        } else if errno != EINTR {
            throw JobFailure.file(path, errno)
        }
    }
}

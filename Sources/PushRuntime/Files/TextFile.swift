import Glibc
package import PushModel

/// Reads a file of limited size into memory.
package struct TextFile {
    private let path: String
    private let limit: Int
    private let kind: String
    private let descriptor: Int32

    /// Reads a file; refuses a pipe, which may block. Throws `script.not_found`, `script.is_directory`, `script.too_large` and
    /// `script.unreadable`, with `kind` in place of "script".
    package static func read(_ path: String, opening openedPath: String? = nil, limit: Int, kind: String) throws(PushError) -> [UInt8] {
        let file = try TextFile(path, opening: openedPath, limit: limit, kind: kind)
        defer { close(file.descriptor) }
        guard file.isSeekable else { throw file.fail("unreadable", "cannot be read: it is not a file") }
        return try file.content()
    }

    /// Reads a file or a pipe to its end. Throws `cancelled` if the task is cancelled while it waits for a pipe, and `budget.wall` after
    /// `time`.
    package static func read(_ path: String, limit: Int, kind: String, within time: Duration?) async throws(PushError) -> [UInt8] {
        let file = try TextFile(path, limit: limit, kind: kind)
        defer { close(file.descriptor) }
        return file.isSeekable ? try file.content() : try await file.stream(within: time)
    }

    private init(_ path: String, opening openedPath: String? = nil, limit: Int, kind: String) throws(PushError) {
        (self.path, self.limit, self.kind) = (path, limit, kind)
        // Without O_NONBLOCK, opening a FIFO would block until a writer opens it.
        descriptor = open(openedPath ?? path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor < 0 else { return }
        if errno == ENOENT || errno == ENOTDIR {
            throw fail("not_found", "does not exist", Self.suggestion(for: path).map { "did you mean \($0)?" })
        }
        throw fail("unreadable", "cannot be read: \(String(cString: strerror(errno)))")
    }

    private func fail(_ code: String, _ why: String, _ hint: String? = nil) -> PushError {
        PushError("\(kind).\(code)", "\(path) \(why)", hint: hint)
    }

    /// Whether the file is seekable: `false` for pipes and terminals.
    private var isSeekable: Bool { lseek(descriptor, 0, SEEK_CUR) >= 0 }

    private func content() throws(PushError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EISDIR { throw fail("is_directory", "is a directory", "pass the path of a \(kind) in it") }
                throw fail("unreadable", "cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            try checkSize(bytes)
        }
    }

    private func stream(within time: Duration?) async throws(PushError) -> [UInt8] {
        let input = InputReader(descriptor)
        let deadline = time.map { ContinuousClock.now + $0 }
        var bytes: [UInt8] = []
        while true {
            let next = await withTaskCancellationHandler { () async -> Result<InputReader.Input, InputFailure> in
                do throws(InputFailure) {
                    return .success(try await input.next(by: deadline))
                } catch {
                    return .failure(error)
                }
            } onCancel: {
                input.wake()
            }
            switch next {
            case .success(.bytes([])): return bytes
            case .success(.bytes(let next)): bytes += next
            case .success(.woken): throw PushError("cancelled", "cancelled while waiting for \(path)")
            case .success(.late):
                throw PushError("budget.wall", "\(path) did not end within the time budget of \(time?.short ?? "?")")
            case .failure(let failure): throw fail("unreadable", "cannot be read: \(failure.reason)")
            }
            try checkSize(bytes)
        }
    }

    private func checkSize(_ bytes: [UInt8]) throws(PushError) {
        guard bytes.count <= limit else {
            throw fail("too_large", "has more than \(limit >> 20) MiB, the limit of a \(kind)")
        }
    }

    /// Suggests an existing file for a missing path: with the suffix `.lua`, in a nearby folder, or with a similar name.
    package static func suggestion(for path: String) -> String? {
        let slash = path.lastIndex(of: "/")
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        guard !name.isEmpty else { return nil }
        let folder = slash.map { String(path[...$0]) } ?? ""
        var names = [name]
        if !name.hasSuffix(".lua"), !name.hasSuffix(".json") { names.append("\(name).lua") }
        var folders = [folder, "\(folder)../", "\(folder)scripts/", "\(folder)../scripts/"]
        if !path.hasPrefix("/") {
            // The path relative to the project's root or to `scripts`, in case the command was run in another folder.
            folders += ["../\(folder)", "", "scripts/\(folder)", "scripts/"]
        }
        let candidates = folders.flatMap { folder in names.map { folder + $0 } }.map(FilePath.normalized)
        if let found = candidates.first(where: { $0 != path && isFile($0) }) { return found }
        return names.lazy.compactMap { neighbour(of: folder + $0) }.first
    }

    private static func isFile(_ path: String) -> Bool {
        if let folder = opendir(path) {
            closedir(folder)
            return false
        }
        return access(path, R_OK) == 0
    }

    /// A file in the same folder with a similar name.
    private static func neighbour(of path: String) -> String? {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        guard let directory = opendir(folder.isEmpty ? "/" : folder) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            // `isFile` skips dangling links, which may be the missing file itself.
            if name.hasSuffix(".lua") || name.hasSuffix(".json"), isFile("\(folder)/\(name)") { names.append(name) }
        }
        guard let near = nearest(name, in: names.sorted()) else { return nil }
        return slash == nil ? near : "\(folder)/\(near)"
    }
}

import Bindings
import Crypto
import Glibc
import PushCore

/// Reads a script from a file, with a clear word about everything that a path can be instead.
enum ScriptFile {
    /// Larger files are no scripts.
    static let limit = 4 << 20

    /// Throws `script.*` errors; the message names the path. What comes through a pipe is waited for, as ``TextFile`` does.
    static func read(_ path: String, within time: Duration?) async throws(PushError) -> FlowScript {
        try script(path, try await TextFile.read(path, limit: limit, kind: "script", within: time))
    }

    /// The same, but a pipe is refused. `place` is opened instead of the path, where that has been looked at already.
    static func read(_ path: String, opening place: String? = nil) throws(PushError) -> FlowScript {
        try script(path, try TextFile.read(path, opening: place, limit: limit, kind: "script"))
    }

    private static func script(_ path: String, _ source: [UInt8]) throws(PushError) -> FlowScript {
        try check(source, of: path)
        let digest = SHA256.hash(data: source).prefix(3)
        let version = digest.map { byte in
            let hex = String(byte, radix: 16)
            return hex.count == 1 ? "0" + hex : hex
        }.joined()
        return FlowScript(name: path, source: source, version: version)
    }

    /// Throws `script.encoding` for what is no text.
    static func check(_ source: [UInt8], of path: String) throws(PushError) {
        guard let text = String(validating: source, as: UTF8.self) else {
            let line = firstInvalidLine(source)
            throw PushError(
                "script.encoding", "\(path) is not UTF-8: line \(line) has other bytes",
                hint: "save the script as UTF-8")
        }
        guard !text.unicodeScalars.contains("\u{0}") else {
            throw PushError("script.encoding", "\(path) has NUL characters: it is no script", hint: "pass a Lua script")
        }
    }

    private static func firstInvalidLine(_ source: [UInt8]) -> Int {
        for (index, line) in source.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated()
        where String(validating: line, as: UTF8.self) == nil {
            return index + 1
        }
        return 1
    }
}

/// A file of moderate size, read at once.
struct TextFile {
    private let path: String
    private let limit: Int
    private let kind: String
    private let descriptor: Int32

    /// Throws `script.not_found`, `script.is_directory`, `script.too_large`, `script.unreadable`, with `kind` in place of
    /// "script". A pipe, which may keep its reader waiting, is refused.
    static func read(_ path: String, opening place: String? = nil, limit: Int, kind: String) throws(PushError) -> [UInt8] {
        let file = try TextFile(path, opening: place, limit: limit, kind: kind)
        defer { close(file.descriptor) }
        guard file.hasPlaces else { throw file.fail("unreadable", "cannot be read: it is no file") }
        return try file.content()
    }

    /// The same, but a pipe is read to its end as it comes. Cancelling the task ends the waiting with `cancelled`, and so does
    /// the end of the time with `budget.wall`.
    static func read(_ path: String, limit: Int, kind: String, within time: Duration?) async throws(PushError) -> [UInt8] {
        let file = try TextFile(path, limit: limit, kind: kind)
        defer { close(file.descriptor) }
        return file.hasPlaces ? try file.content() : try await file.stream(within: time)
    }

    private init(_ path: String, opening place: String? = nil, limit: Int, kind: String) throws(PushError) {
        (self.path, self.limit, self.kind) = (path, limit, kind)
        // A FIFO would keep even its opener waiting until somebody writes to it.
        descriptor = open(place ?? path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor < 0 else { return }
        if errno == ENOENT || errno == ENOTDIR {
            throw fail("not_found", "does not exist", Self.suggestion(for: path).map { "did you mean \($0)?" })
        }
        throw fail("unreadable", "cannot be read: \(String(cString: strerror(errno)))")
    }

    private func fail(_ code: String, _ why: String, _ hint: String? = nil) -> PushError {
        PushError("\(kind).\(code)", "\(path) \(why)", hint: hint)
    }

    /// What has none is a pipe or a terminal.
    private var hasPlaces: Bool { lseek(descriptor, 0, SEEK_CUR) >= 0 }

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
        let input = InputQueue(descriptor)
        let deadline = time.map { ContinuousClock.now + $0 }
        var bytes: [UInt8] = []
        while true {
            let next = await withTaskCancellationHandler { () async -> Result<InputQueue.Input, InputFailure> in
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
            case .success(.woken): throw PushError("cancelled", "the waiting for \(path) was cancelled")
            case .success(.late):
                throw PushError("budget.wall", "\(path) did not come to its end within the time budget of \(time?.short ?? "?")")
            case .failure(let failure): throw fail("unreadable", "cannot be read: \(failure.reason)")
            }
            try checkSize(bytes)
        }
    }

    private func checkSize(_ bytes: [UInt8]) throws(PushError) {
        guard bytes.count <= limit else {
            throw fail("too_large", "has more than \(limit >> 20) MiB, the most of a \(kind)")
        }
    }

    /// What a missing path may mean: the file with its ending, the same name in a folder near by, a name that is close.
    static func suggestion(for path: String) -> String? {
        let slash = path.lastIndex(of: "/")
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        guard !name.isEmpty else { return nil }
        let folder = slash.map { String(path[...$0]) } ?? ""
        var names = [name]
        if !name.hasSuffix(".lua"), !name.hasSuffix(".json") { names.append("\(name).lua") }
        var folders = [folder, "\(folder)../", "\(folder)scripts/", "\(folder)../scripts/"]
        if !path.hasPrefix("/") {
            // From another folder of the project: the path as the root sees it, or the bare name.
            folders += ["../\(folder)", "", "scripts/\(folder)", "scripts/"]
        }
        let places = folders.flatMap { folder in names.map { folder + $0 } }.map(ProjectScripts.normalized)
        if let found = places.first(where: { $0 != path && isFile($0) }) { return found }
        return names.lazy.compactMap { neighbour(of: folder + $0) }.first
    }

    private static func isFile(_ path: String) -> Bool {
        if let folder = opendir(path) {
            closedir(folder)
            return false
        }
        return access(path, R_OK) == 0
    }

    /// A file beside the missing one whose name is close.
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
            // A link may lead nowhere: then it is what is missing.
            if name.hasSuffix(".lua") || name.hasSuffix(".json"), isFile("\(folder)/\(name)") { names.append(name) }
        }
        guard let near = nearest(name, in: names.sorted()) else { return nil }
        return slash == nil ? near : "\(folder)/\(near)"
    }
}

import Glibc
package import PushModel

/// Writes the files of a new project or plugin: all of them or none.
package struct NewFiles {
    let folder: String
    let files: [File]
    /// What to do if one of the files exists.
    let hint: String

    package init(folder: String, files: [File], hint: String) {
        self.folder = folder
        self.files = files
        self.hint = hint
    }

    package struct File {
        /// Relative to the folder.
        package var path: String
        var text: String
        /// Its purpose in a few words.
        package var purpose: String

        package init(path: String, text: String, purpose: String) {
            self.path = path
            self.text = text
            self.purpose = purpose
        }
    }

    /// Throws `init.exists` before it writes anything, and `init.failed` after it has removed what it had written.
    package func write() throws(PushError) {
        var taken = files.map(\.path).filter { Self.exists(fullPath($0)) }
        taken += Set(files.flatMap { Self.folders(above: $0.path) }).filter(blocksFolder).sorted()
        guard taken.isEmpty else {
            throw PushError(
                "init.exists", "\(folder) already has \(taken.joined(separator: ", ")); nothing was written",
                hint: hint)
        }
        var created: [CreatedEntry] = []
        do throws(PushError) {
            for file in files { try write(file, &created) }
        } catch {
            for entry in created.reversed() { entry.remove() }
            throw error
        }
    }

    /// A created file or folder, to be removed if a later one fails.
    private enum CreatedEntry {
        case folder(String)
        case file(String)

        func remove() {
            switch self {
            case .folder(let path): rmdir(path)
            case .file(let path): unlink(path)
            }
        }
    }

    private func write(_ file: File, _ created: inout [CreatedEntry]) throws(PushError) {
        let path = fullPath(file.path)
        for folder in Self.folders(above: path) where !Self.exists(folder) {
            guard mkdir(folder, 0o777) == 0 else { throw Self.failure(folder, after: created) }
            created.append(.folder(folder))
        }
        // O_EXCL: fails if the file has been created meanwhile.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path, after: created) }
        created.append(.file(path))
        var rest = Array(file.text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = Self.failure(path, after: created)
                close(descriptor)
                throw error
            }
            rest.removeFirst(count)
        }
        guard close(descriptor) == 0 else { throw Self.failure(path, after: created) }
    }

    private func fullPath(_ path: String) -> String { folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)" }

    /// Whether a file stands where a folder is needed.
    private func blocksFolder(_ path: String) -> Bool {
        guard Self.exists(fullPath(path)) else { return false }
        let descriptor = open(fullPath(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor < 0 && errno == ENOTDIR
    }

    /// Whether the path exists; true for a broken link too.
    private static func exists(_ path: String) -> Bool {
        faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// The parent folders: `a` and `a/b` for `a/b/c`.
    private static func folders(above path: String) -> [String] {
        path.indices.filter { path[$0] == "/" && $0 != path.startIndex }.map { String(path[..<$0]) }
    }

    private static func failure(_ path: String, after created: [CreatedEntry]) -> PushError {
        let reason = String(cString: strerror(errno))
        let result = created.isEmpty ? "nothing was written" : "all files written before were removed"
        return PushError(
            "init.failed", "\(path) could not be written: \(reason); \(result)",
            hint: "use a folder that you can write to, on a disk with free space")
    }
}

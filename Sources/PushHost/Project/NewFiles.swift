import Glibc
import PushCore

/// Files to begin with: all of them are written, or none.
struct NewFiles {
    let folder: String
    let files: [File]
    /// What to do where one of them is there already.
    let hint: String

    struct File {
        /// Below the folder.
        var path: String
        var text: String
        /// What it is for, in a few words.
        var purpose: String
    }

    /// Throws `init.exists`, before anything is written, and `init.failed`, after what was written has been removed.
    func write() throws(PushError) {
        var taken = files.map(\.path).filter { Self.exists(place($0)) }
        taken += Set(files.flatMap { Self.folders(above: $0.path) }).filter(isNoFolder).sorted()
        guard taken.isEmpty else {
            throw PushError(
                "init.exists", "\(folder) has \(taken.joined(separator: ", ")) already: nothing was written",
                hint: hint)
        }
        var made: [Made] = []
        do throws(PushError) {
            for file in files { try write(file, &made) }
        } catch {
            for thing in made.reversed() { thing.remove() }
            throw error
        }
    }

    /// What has to go again if the rest fails.
    private enum Made {
        case folder(String)
        case file(String)

        func remove() {
            switch self {
            case .folder(let path): rmdir(path)
            case .file(let path): unlink(path)
            }
        }
    }

    private func write(_ file: File, _ made: inout [Made]) throws(PushError) {
        let path = place(file.path)
        for folder in Self.folders(above: path) where !Self.exists(folder) {
            guard mkdir(folder, 0o777) == 0 else { throw Self.failure(folder) }
            made.append(.folder(folder))
        }
        // Never over a file that somebody made in between.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path) }
        made.append(.file(path))
        var rest = Array(file.text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = Self.failure(path)
                close(descriptor)
                throw error
            }
            rest.removeFirst(count)
        }
        guard close(descriptor) == 0 else { throw Self.failure(path) }
    }

    private func place(_ path: String) -> String { folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)" }

    /// Whether a file of another kind is in the place of one of our folders.
    private func isNoFolder(_ path: String) -> Bool {
        guard Self.exists(place(path)) else { return false }
        let descriptor = open(place(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor < 0 && errno == ENOTDIR
    }

    /// A link that leads nowhere is there too.
    private static func exists(_ path: String) -> Bool {
        faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// `a`, `a/b` for `a/b/c`.
    private static func folders(above path: String) -> [String] {
        path.indices.filter { path[$0] == "/" && $0 != path.startIndex }.map { String(path[..<$0]) }
    }

    private static func failure(_ path: String) -> PushError {
        PushError(
            "init.failed", "\(path) could not be written: \(String(cString: strerror(errno))); what was written is removed again",
            hint: "make room, or name a folder that you may write to")
    }
}

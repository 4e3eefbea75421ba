import Glibc
package import PushModel

/// Finds Lua files under the paths of a command line.
package enum ScriptFinder {
    /// The files among `paths`, and all files below the folders among them whose name ends in `suffix`, in alphabetical order. Below
    /// folders, hidden entries, symbolic links to folders, and pipes are skipped. Throws `script.not_found` and `script.unreadable`.
    package static func files(under paths: [String], suffix: String) throws(PushError) -> [String] {
        var found: [String] = []
        for path in paths {
            if let names = entries(of: path) {
                found += try files(in: path == "." ? "" : path.hasSuffix("/") ? path : "\(path)/", names, suffix: suffix)
            } else if access(path, F_OK) == 0 {
                found.append(path)
            } else {
                throw PushError(
                    "script.not_found", "\(path) does not exist",
                    hint: TextFile.suggestion(for: path).map { "did you mean \($0)?" } ?? "pass a Lua file, or a folder with Lua files")
            }
        }
        var seen: Set<String> = []
        return found.filter { seen.insert($0).inserted }
    }

    private static func files(in folder: String, _ names: [String], suffix: String) throws(PushError) -> [String] {
        var found: [String] = []
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = folder + name
            if let inner = entries(of: path) {
                // A linked folder may lead to a cycle.
                if isLink(path) { continue }
                found += try files(in: path + "/", inner, suffix: suffix)
            } else if name.hasSuffix(suffix), isFile(path) {
                found.append(path)
            }
        }
        return found
    }

    /// The folders among `paths` and all folders below them, without hidden ones and symbolic links.
    package static func folders(under paths: [String]) -> [String] {
        paths.flatMap { path -> [String] in
            guard let names = entries(of: path) else { return [] }
            let inner = names.filter { !$0.hasPrefix(".") }.map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
            return [path] + folders(under: inner.filter { !isLink($0) })
        }
    }

    /// Whether the path is a regular file; links are followed. `true` for a file without read permission, so that its reader reports the
    /// error.
    // stat(2) cannot be used: its fields are not available if the Swift library is linked statically.
    private static func isFile(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return errno == EACCES || errno == EPERM }
        defer { close(descriptor) }
        return lseek(descriptor, 0, SEEK_CUR) >= 0
    }

    private static func isLink(_ path: String) -> Bool {
        var byte: CChar = 0
        return readlink(path, &byte, 1) >= 0
    }

    /// The names in a folder; nil if the path is not a folder.
    private static func entries(of path: String) -> [String]? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }
}

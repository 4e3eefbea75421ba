import Glibc
import PushCore

/// Lua files under the paths of a command line.
enum ScriptFinder {
    /// The files among `paths`, and of the folders among them every file whose name ends in `suffix`, in alphabetical order.
    /// Hidden folders are passed over, and so is what only looks like a file: a pipe is waited for where it is named itself.
    /// Throws `script.not_found`, `script.unreadable`.
    static func files(under paths: [String], suffix: String) throws(PushError) -> [String] {
        var found: [String] = []
        for path in paths {
            if let names = entries(of: path) {
                found += try files(in: path == "." ? "" : path.hasSuffix("/") ? path : "\(path)/", names, suffix: suffix)
            } else if access(path, F_OK) == 0 {
                found.append(path)
            } else {
                throw PushError(
                    "script.not_found", "\(path) does not exist",
                    hint: TextFile.suggestion(for: path).map { "did you mean \($0)?" } ?? "give a Lua file, or a folder with some")
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
                // A linked folder may lead round in a circle.
                if isLink(path) { continue }
                found += try files(in: path + "/", inner, suffix: suffix)
            } else if name.hasSuffix(suffix), isFile(path) {
                found.append(path)
            }
        }
        return found
    }

    /// The folders among `paths`, with those in them, hidden ones left out.
    static func folders(under paths: [String]) -> [String] {
        paths.flatMap { path -> [String] in
            guard let names = entries(of: path) else { return [] }
            let inner = names.filter { !$0.hasPrefix(".") }.map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
            return [path] + folders(under: inner.filter { !isLink($0) })
        }
    }

    /// A link is what it leads to. What may not be read is one, so that its reader can say that.
    // Not with stat(2), whose fields are missing where the Swift library is linked statically.
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

    /// Nil for what is no folder.
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

import Glibc
import Synchronization

/// The files that a run was made of, as they were before it read them.
final class SourceFiles: Sendable {
    /// What tells two states of a file apart; nil for what is not there, or no file.
    private struct Mark: Equatable {
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    private let marks = Mutex<[String: Mark?]>([:])
    /// Folders whose Lua files all count, those that come later among them.
    private let roots: [String]

    init(below roots: [String]) {
        self.roots = roots
        for path in present { note(path) }
    }

    /// To be called before a file is read.
    func note(_ path: String) {
        marks.withLock { marks in
            if marks[path] == nil { marks[path] = .some(Mark(path)) }
        }
    }

    /// Whether a file was there to be noted.
    var isEmpty: Bool { marks.withLock { $0.values.allSatisfy { $0 == nil } } }

    /// A file that is another one now, or that has come. What is gone may be about to come back.
    var changed: String? {
        let new = present
        return marks.withLock { marks in
            for path in Set(marks.keys).union(new).sorted() {
                guard let mark = Mark(path) else { continue }
                if let noted = marks[path], noted == mark { continue }
                return path
            }
            return nil
        }
    }

    /// Where changes can show themselves: the folders of the files, of what they link to, and all folders below the roots.
    var folders: Set<String> {
        let files = marks.withLock { Array($0.keys) }
        let links = files.compactMap { path in
            realpath(path, nil).map { resolved in
                defer { free(resolved) }
                return String(cString: resolved)
            }
        }
        return Set((files + links).map(Self.folder) + ScriptFinder.folders(under: roots) + roots.map(Self.folder))
    }

    private var present: [String] { roots.flatMap { (try? ScriptFinder.files(under: [$0], suffix: ".lua")) ?? [] } }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

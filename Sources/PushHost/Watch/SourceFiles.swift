import FoundationEssentials
import Glibc
import Synchronization

/// The files that a run was made of, as they were before it read them.
final class SourceFiles: Sendable {
    /// What tells two states of a file apart; nil for what is not there, or no file.
    ///
    /// Not with stat(2): where the Swift library is linked statically, the fields of its structure belong to no module that
    /// can be imported.
    private struct Mark: Equatable {
        var facts: [String]
        var modified: Date?
        var isReadable: Bool

        init?(_ path: String) {
            guard let resolved = realpath(path, nil) else { return nil }
            defer { free(resolved) }
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: String(cString: resolved)),
                attributes[.type] as? FileAttributeType == .typeRegular
            else { return nil }
            let keys: [FileAttributeKey] = [.systemNumber, .systemFileNumber, .size]
            facts = keys.map { attributes[$0].map { "\($0)" } ?? "" }
            modified = attributes[.modificationDate] as? Date
            isReadable = access(path, R_OK) == 0
        }
    }

    private let marks = Mutex<[String: Mark?]>([:])
    /// Folders whose Lua files all count, those that come later among them.
    private let roots: [String]
    private let noted: @Sendable () -> Void

    /// `noted` is called whenever a file more is noted.
    init(below roots: [String], noted: @escaping @Sendable () -> Void) {
        self.roots = roots
        self.noted = noted
        for path in present { note(path) }
    }

    /// To be called before a file is read, or looked for.
    func note(_ path: String) {
        let isNew = marks.withLock { marks in
            guard marks[path] == nil else { return false }
            marks[path] = .some(Mark(path))
            return true
        }
        if isNew { noted() }
    }

    /// Whether a file was there to be noted.
    var isEmpty: Bool { marks.withLock { $0.values.allSatisfy { $0 == nil } } }

    /// A file that is another one now or that has come, and one that is gone.
    var changes: (changed: String?, gone: String?) {
        let new = present
        return marks.withLock { marks in
            var changes: (changed: String?, gone: String?) = (nil, nil)
            for path in Set(marks.keys).union(new).sorted() {
                let (old, now) = (marks[path] ?? nil, Mark(path))
                guard old != now else { continue }
                if now == nil { changes.gone = changes.gone ?? path } else { changes.changed = changes.changed ?? path }
            }
            return changes
        }
    }

    /// The files, and the roots.
    var paths: Set<String> { marks.withLock { Set($0.keys) }.union(roots) }

    /// Folders in which everything counts.
    var folders: Set<String> { Set(ScriptFinder.folders(under: roots)) }

    private var present: [String] { roots.flatMap { (try? ScriptFinder.files(under: [$0], suffix: ".lua")) ?? [] } }
}

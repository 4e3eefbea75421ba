import FoundationEssentials
import Glibc
import Synchronization

/// Records the state of the files that a run reads, to detect later changes.
package final class SourceFiles: Sendable {
    /// The state of a file; nil if the file does not exist or is not a regular file.
    ///
    /// stat(2) cannot be used: the fields of its structure are not importable if the Swift library is linked statically.
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
    /// Folders of which all Lua files are watched, including files that are created later.
    private let roots: [String]
    private let onRecorded: @Sendable () -> Void

    /// - Parameter onRecorded: called after each newly recorded file.
    package init(below roots: [String], onRecorded: @escaping @Sendable () -> Void) {
        self.roots = roots
        self.onRecorded = onRecorded
        for path in present { note(path) }
    }

    /// Records the state of a file. Call before the file is read or looked for.
    package func note(_ path: String) {
        let isNew = marks.withLock { marks in
            guard marks[path] == nil else { return false }
            marks[path] = .some(Mark(path))
            return true
        }
        if isNew { onRecorded() }
    }

    /// Whether none of the recorded files existed.
    package var isEmpty: Bool { marks.withLock { $0.values.allSatisfy { $0 == nil } } }

    /// The first file that was changed or created, and the first that was removed.
    package var changes: (changed: String?, removed: String?) {
        let new = present
        return marks.withLock { marks in
            var changes: (changed: String?, removed: String?) = (nil, nil)
            for path in Set(marks.keys).union(new).sorted() {
                let (old, now) = (marks[path] ?? nil, Mark(path))
                guard old != now else { continue }
                if now == nil { changes.removed = changes.removed ?? path } else { changes.changed = changes.changed ?? path }
            }
            return changes
        }
    }

    /// The recorded files and the root folders.
    package var paths: Set<String> { marks.withLock { Set($0.keys) }.union(roots) }

    /// Folders to watch for any change.
    package var folders: Set<String> { Set(ScriptFinder.folders(under: roots)) }

    private var present: [String] { roots.flatMap { (try? ScriptFinder.files(under: [$0], suffix: ".lua")) ?? [] } }
}

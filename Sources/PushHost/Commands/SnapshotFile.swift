import Bindings
import Glibc
import PushModel
import PushRuntime

/// The snapshots of a spec, in a file beside it that people read and review: `a_spec.snap` for `a_spec.lua`.
///
/// Each has a line `== KEY`, and its text below, indented by two spaces.
struct SnapshotFile: Sendable, Equatable {
    let path: String
    private(set) var texts: [String: String] = [:]

    private static let limit = 64 << 20
    private static let mark = "== "
    private static let indent = "  "

    init(of spec: String) { path = "\(spec.hasSuffix(".lua") ? String(spec.dropLast(4)) : spec).snap" }

    /// Reads the file beside a spec. Empty if there is none. Throws `script.unreadable` and `script.too_large`.
    static func read(of spec: String) throws(PushError) -> SnapshotFile {
        var file = SnapshotFile(of: spec)
        do throws(PushError) {
            file.parse(String(decoding: try TextFile.read(file.path, limit: limit, kind: "script"), as: UTF8.self))
        } catch {
            guard error.code == "script.not_found" else { throw error }
        }
        return file
    }

    mutating func parse(_ content: String) {
        var (key, lines): (String?, [Substring]) = (nil, [])
        func entry() -> (String, String)? { key.map { ($0, lines.joined(separator: "\n")) } }
        for line in content.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix(Self.mark) {
                if let (key, text) = entry() { texts[key] = text }
                (key, lines) = (String(line.dropFirst(Self.mark.count)), [])
            } else if key != nil, line.hasPrefix(Self.indent) {
                lines.append(line.dropFirst(Self.indent.count))
            }
        }
        if let (key, text) = entry() { texts[key] = text }
    }

    /// The content of the file.
    var content: String {
        var lines = ["# Written by pushhost test --update."]
        for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
            lines += ["", Self.mark + key]
            lines += text.split(separator: "\n", omittingEmptySubsequences: false).map { Self.indent + $0 }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The keys that no test uses: their test ran and did not compare them, or does not exist. Those of failed tests and of tests that did
    /// not run count as used.
    func unused(after file: TestFile) -> [String] {
        guard file.failure == nil else { return [] }
        let seen = file.records.reduce(into: Set<String>()) { $0.formUnion($1.snapshots.keys) }
        let idle = file.declaredNames.subtracting(file.records.filter { $0.status == .passed }.map(\.test.fullName))
        return texts.keys.filter { key in !seen.contains(key) && !idle.contains { SnapshotBook.isKey(key, of: $0) } }.sorted()
    }

    /// Enters the values of the tests that passed, and removes what no test uses.
    mutating func update(after file: TestFile) {
        let unused = unused(after: file)
        for record in file.records where record.status == .passed { texts.merge(record.snapshots) { $1 } }
        for key in unused { texts[key] = nil }
    }

    /// Writes the file, or deletes it if there are no snapshots. Throws `output.failed`.
    func write() throws(PushError) {
        if texts.isEmpty {
            unlink(path)
        } else {
            try ResultFile.write(Array(content.utf8), to: path)
        }
    }
}

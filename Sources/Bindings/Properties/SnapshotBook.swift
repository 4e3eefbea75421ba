import Synchronization

/// The snapshots of one run of a test: those stored for its spec, and the values that the test compares with them.
package final class SnapshotBook: Sendable {
    /// The stored texts have keys that begin with the full name of their test.
    private let source: Source
    private let state = Mutex(State())

    private struct State {
        var seen: [String: String] = [:]
        /// Number of snapshots by name within the test.
        var counts: [String: Int] = [:]
    }

    /// The stored snapshots of a spec.
    package struct Source: Sendable {
        package var stored: [String: String]
        /// Whether values replace the stored ones instead of being compared with them.
        package var isUpdating: Bool

        package init(stored: [String: String], isUpdating: Bool) {
            self.stored = stored
            self.isUpdating = isUpdating
        }
    }

    /// The result of a comparison.
    struct Comparison: Sendable, Equatable {
        enum Verdict: String, Sendable { case same, missing, different }

        var verdict: Verdict
        var key: String
        var stored: String
    }

    package init(_ source: Source) {
        self.source = source
    }

    /// The texts that the test compared, by key.
    package var seen: [String: String] { state.withLock { $0.seen } }

    /// Compares a text with the stored one. Snapshots without a name, and those with the same name, are numbered.
    func compare(_ text: String, name: String?, test: String) -> Comparison {
        let key = state.withLock { state in
            let name = name ?? ""
            let number = (state.counts[name] ?? 0) + 1
            state.counts[name] = number
            let part = name.isEmpty ? "\(number)" : number == 1 ? name : "\(name) \(number)"
            let key = Self.key("\(test) › \(part)")
            state.seen[key] = text
            return key
        }
        guard !source.isUpdating else { return Comparison(verdict: .same, key: key, stored: text) }
        guard let found = source.stored[key] else { return Comparison(verdict: .missing, key: key, stored: "") }
        return Comparison(verdict: found == text ? .same : .different, key: key, stored: found)
    }

    /// A key as a line of the file.
    static func key(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }

    /// Whether a snapshot is of this test.
    package static func isKey(_ key: String, of test: String) -> Bool { key.hasPrefix(Self.key("\(test) › ")) }
}

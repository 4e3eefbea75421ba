import FoundationEssentials
import Glibc
import PushCore

/// An audit log as lines of JSON that others can check by themselves: the content of an entry, its hash, and the one before it.
enum AuditExport {
    /// Writes all entries; answers where they end.
    static func write(_ source: AuditSource, to line: (JSON) throws(PushError) -> Void) async throws(PushError) -> AuditEnd {
        var end = AuditEnd.start
        while true {
            let entries = try await source.entries(after: end.sequence)
            guard !entries.isEmpty else { return end }
            for entry in entries {
                try line(entry.exported(after: end.hash))
                end = AuditEnd(sequence: entry.sequence, hash: entry.hash)
            }
        }
    }

    /// Goes along the lines of an exported log.
    ///
    /// Throws `audit.file` for a file that cannot be read, or is none.
    static func verify(_ path: String, against noted: AuditEnd?) throws(PushError) -> AuditVerification {
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            let why = String(cString: strerror(errno))
            throw PushError("audit.file", "\(path) cannot be read: \(why)", hint: "name a file that pushhost audit export has made")
        }
        guard !bytes.isEmpty else {
            throw PushError(
                "audit.file", "\(path) is empty, and proves nothing", hint: "name a file that pushhost audit export has made, as it made it"
            )
        }
        var end = AuditEnd.start
        var passed = noted == .start || noted == nil
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let json = try? JSON(parsing: line), let (entry, previous) = AuditEntry.exported(json) else {
                guard number > 0 else {
                    throw PushError(
                        "audit.file", "\(path) is no exported audit log", hint: "name a file that pushhost audit export has made")
                }
                return .broken(AuditBreak(sequence: end.sequence + 1, reason: .unreadable))
            }
            guard previous == end.hash || entry.sequence != end.sequence + 1 else {
                return .broken(AuditBreak(sequence: entry.sequence, reason: .changed))
            }
            if let flaw = end.advance(to: entry) { return .broken(flaw) }
            if end.sequence == noted?.sequence {
                guard end == noted else { return .broken(AuditBreak(sequence: end.sequence, reason: .replaced)) }
                passed = true
            }
        }
        return passed ? .whole(end) : .broken(AuditBreak(sequence: end.sequence + 1, reason: .missing))
    }
}

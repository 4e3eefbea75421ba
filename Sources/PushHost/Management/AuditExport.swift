import FoundationEssentials
import Glibc
import PushModel

/// Writes and verifies an audit log as JSON lines, which others can check themselves. Each line has an entry's content, its hash and the
/// hash before it.
enum AuditExport {
    /// Writes all entries. Returns the end of the chain.
    static func write(_ source: AuditSource, to line: (JSON) throws(PushError) -> Void) async throws(PushError) -> AuditHead {
        var end = AuditHead.start
        while true {
            let entries = try await source.entries(after: end.sequence)
            guard !entries.isEmpty else { return end }
            for entry in entries {
                try line(ExportedAuditEntry(entry: entry, previous: end.hash).json)
                end = AuditHead(sequence: entry.sequence, hash: entry.hash)
            }
        }
    }

    /// Verifies an exported log.
    ///
    /// Throws `audit.file` if the file cannot be read or is not an exported log.
    static func verify(_ path: String, against recorded: AuditHead?) throws(PushError) -> AuditVerification {
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            let reason = String(cString: strerror(errno))
            throw PushError(
                "audit.file", "\(path) \(fault(of: path, error) ?? "cannot be read: \(reason)")",
                hint: "name a file created by pushhost audit export")
        }
        guard !bytes.isEmpty else {
            throw PushError(
                "audit.file", "\(path) is empty", hint: "name an unchanged file created by pushhost audit export"
            )
        }
        var end = AuditHead.start
        var passed = recorded == .start || recorded == nil
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let json = try? JSON(parsing: line), let exported = ExportedAuditEntry(json) else {
                guard number > 0 else {
                    throw PushError(
                        "audit.file", "\(path) is not an exported audit log", hint: "name a file created by pushhost audit export")
                }
                return .broken(AuditBreak(sequence: end.sequence + 1, reason: .unreadable))
            }
            let entry = exported.entry
            guard exported.previous == end.hash || entry.sequence != end.sequence + 1 else {
                return .broken(AuditBreak(sequence: entry.sequence, reason: .changed))
            }
            if let flaw = end.advance(to: entry) { return .broken(flaw) }
            if end.sequence == recorded?.sequence {
                guard end == recorded else { return .broken(AuditBreak(sequence: end.sequence, reason: .replaced)) }
                passed = true
            }
        }
        return passed ? .intact(end) : .broken(AuditBreak(sequence: end.sequence + 1, reason: .missing))
    }

    /// The causes that the system's error does not name or names in other words than other commands.
    private static func fault(of path: String, _ error: any Error) -> String? {
        if (error as? CocoaError)?.code == .fileReadNoSuchFile { return "does not exist" }
        return access("\(path)/.", F_OK) == 0 ? "is a directory" : nil
    }
}

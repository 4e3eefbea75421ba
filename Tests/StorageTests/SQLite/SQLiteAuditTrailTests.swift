import PushModel
import Support
import Testing

@testable import Storage

/// What verification finds in an audit log that was manipulated.
@Suite struct SQLiteAuditTrailTests {
    private func trail(_ count: Int) async throws -> Bench {
        let bench = try await Bench()
        let trail = bench.storage.auditTrail
        let work: [Work] = (1...count).map { number in
            {
                _ = try await trail.append(
                    AuditRecord(
                        time: HubBench.startTime, actor: "ann", action: "plugin.install", subject: "\(number)",
                        details: ["a": "1", "b": "2"]))
            }
        }
        #expect(await outcomes(work).allSatisfy { $0 == nil })
        return bench
    }

    private static let opened = "DROP TRIGGER audit_entry_unchanged; DROP TRIGGER audit_entry_kept;"

    @Test func `Entries cannot be changed or removed`() async throws {
        let bench = try await trail(3)
        let before = try await bench.storage.auditTrail.entries(after: 0, limit: 9, AuditFilter())
        for sql in [
            "UPDATE audit_entry SET actor = 'bob' WHERE sequence = 2", "DELETE FROM audit_entry WHERE sequence = 3",
            "DELETE FROM audit_entry",
        ] {
            let error = await refusal { try await bench.storage.database.write { try $0.run(sql) } }
            #expect(error?.code == "storage.conflict" && error?.message.contains("the audit trail") == true, "\(sql)")
        }
        #expect(try await bench.storage.auditTrail.entries(after: 0, limit: 9, AuditFilter()) == before)
        try await bench.storage.close()
    }

    @Test func `The first position at which the chain is broken is reported`() async throws {
        func copy(to sequence: Int) -> String {
            """
            INSERT INTO audit_entry SELECT \(sequence), time, actor, action, subject, details, outcome, hash FROM audit_entry
            WHERE sequence = 3
            """
        }
        let cases: [(sql: String, sequence: Int64, reason: AuditBreak.Reason)] = [
            ("UPDATE audit_entry SET time = time + 1 WHERE sequence = 3", 3, .changed),
            ("UPDATE audit_entry SET actor = 'bob' WHERE sequence = 3", 3, .changed),
            ("UPDATE audit_entry SET action = 'plugin.remove' WHERE sequence > 2", 3, .changed),
            ("UPDATE audit_entry SET subject = '' WHERE sequence = 1", 1, .changed),
            ("UPDATE audit_entry SET details = '[[\"a\",\"1\"]]' WHERE sequence = 5", 5, .changed),
            ("UPDATE audit_entry SET outcome = 'refused' WHERE sequence = 3", 3, .changed),
            ("UPDATE audit_entry SET hash = zeroblob(32) WHERE sequence = 3", 3, .changed),
            ("UPDATE audit_entry SET details = '[[\"a\"' WHERE sequence = 4", 4, .unreadable),
            ("UPDATE audit_entry SET outcome = 'maybe' WHERE sequence = 4", 4, .unreadable),
            ("DELETE FROM audit_entry WHERE sequence = 3", 3, .missing),
            ("DELETE FROM audit_entry WHERE sequence = 1", 1, .missing),
            ("DELETE FROM audit_entry WHERE sequence > 3", 4, .missing),
            ("DELETE FROM audit_entry", 1, .missing),
            // Two entries have exchanged their positions.
            (
                "UPDATE audit_entry SET sequence = 9 WHERE sequence = 2; UPDATE audit_entry SET sequence = 2 WHERE sequence = 3; "
                    + "UPDATE audit_entry SET sequence = 3 WHERE sequence = 9", 2, .changed
            ),
            (copy(to: 6), 6, .changed),
            ("UPDATE audit_end SET sequence = 4, hash = (SELECT hash FROM audit_entry WHERE sequence = 4)", 5, .added),
            (copy(to: -1), -1, .added),
            ("UPDATE audit_end SET hash = zeroblob(32)", 5, .changed), ("DELETE FROM audit_end", 6, .endless),
            ("DELETE FROM audit_end; DELETE FROM audit_entry", 1, .endless),
        ]
        for (sql, sequence, reason) in cases {
            let bench = try await trail(5)
            try await bench.execute(Self.opened)
            try await bench.execute(sql)
            #expect(try await bench.storage.auditTrail.verify() == .broken(AuditBreak(sequence: sequence, reason: reason)), "\(sql)")
            try await bench.storage.close()
        }
    }

    @Test func `A truncated log is detected forever, whatever is appended afterwards`() async throws {
        let bench = try await trail(5)
        try await bench.execute(Self.opened + "DELETE FROM audit_entry WHERE sequence > 3")
        let entry = try await bench.storage.auditTrail.append(
            AuditRecord(time: HubBench.startTime, actor: "ann", action: "a", subject: "b"))
        #expect(entry.sequence == 6)
        #expect(try await bench.storage.auditTrail.verify() == .broken(AuditBreak(sequence: 4, reason: .missing)))
        try await bench.storage.close()
    }

    @Test func `A long log is verified to its end`() async throws {
        let bench = try await trail(2001)
        guard case .intact(let end) = try await bench.storage.auditTrail.verify() else {
            Issue.record("the log is reported as modified")
            return
        }
        #expect(end.sequence == 2001)
        try await bench.execute(Self.opened + "UPDATE audit_entry SET subject = 'x' WHERE sequence = 2001")
        #expect(try await bench.storage.auditTrail.verify() == .broken(AuditBreak(sequence: 2001, reason: .changed)))
        try await bench.execute("UPDATE audit_entry SET subject = 'x' WHERE sequence = 1001")
        #expect(try await bench.storage.auditTrail.verify() == .broken(AuditBreak(sequence: 1001, reason: .changed)))
        try await bench.storage.close()
    }

    @Test func `The error for an unreadable entry or head names it`() async throws {
        let bench = try await trail(3)
        try await bench.execute(Self.opened + "UPDATE audit_entry SET outcome = 'maybe' WHERE sequence = 2")
        let error = await refusal { try await bench.storage.auditTrail.entries(after: 0, limit: 9, AuditFilter()) }
        #expect(error?.code == "storage.corrupt")
        #expect(error?.message.hasPrefix("the entry 2 of the audit trail") == true)
        #expect(try await bench.storage.auditTrail.entries(after: 2, limit: 9, AuditFilter()).count == 1)
        try await bench.execute("DELETE FROM audit_end")
        let record = AuditRecord(time: HubBench.startTime, actor: "ann", action: "a", subject: "b")
        let end = await refusal { try await bench.storage.auditTrail.append(record) }
        #expect(end?.code == "storage.corrupt" && end?.message.hasPrefix("the end of the audit trail") == true)
        try await bench.storage.close()
    }

    @Test func `Entries are looked up by index, without a scan`() async throws {
        let bench = try await Bench()
        for (filter, index) in [
            (AuditFilter(actor: "a"), "audit_entry_by_actor"), (AuditFilter(action: "a"), "audit_entry_by_action"),
            (AuditFilter(), "INTEGER PRIMARY KEY"),
        ] {
            let plan = try await bench.storage.database.read { database in
                try database.all(
                    "EXPLAIN QUERY PLAN \(SQLiteAuditTrail.selection(filter)) AND sequence > ?3 ORDER BY sequence LIMIT ?4", filter.actor,
                    filter.action, 0, 9
                ) { $0.text(3) }
            }
            #expect(plan.count == 1 && plan[0].contains("SEARCH") && plan[0].contains(index), "\(plan)")
        }
        try await bench.storage.close()
    }
}

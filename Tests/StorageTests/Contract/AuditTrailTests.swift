import Crypto
import PushModel
import Storage
import Support
import Testing

@Suite struct AuditTrailTests {
    private func record(_ number: Int, actor: String = "ann", action: String = "plugin.install") -> AuditRecord {
        AuditRecord(time: HubBench.startTime + .seconds(Int64(number)), actor: actor, action: action, subject: "subject \(number)")
    }

    @Test(arguments: Engine.allCases)
    func `An appended entry is returned unchanged, with its sequence`(engine: Engine) async throws {
        try await engine.run { storage in
            let trail = storage.auditTrail
            var appended: [AuditEntry] = []
            for outcome in AuditRecord.Outcome.allCases {
                let record = AuditRecord(
                    time: HubBench.startTime, actor: Samples.oddText, action: "", subject: Samples.oddText,
                    details: ["": "", Samples.oddText: Samples.oddText, "b": "2", "a": "1"], outcome: outcome)
                let entry = try await trail.append(record)
                #expect(entry.record == record)
                appended.append(entry)
            }
            #expect(appended.map(\.sequence) == [1, 2, 3])
            #expect(try await trail.entries(after: 0, limit: 9, AuditFilter()) == appended)
            let end = try #require(appended.last)
            #expect(try await trail.verify() == .intact(AuditHead(sequence: 3, hash: end.hash)))
        }
    }

    /// External tools verify an exported log by these bytes.
    @Test(arguments: Engine.allCases)
    func `The hash covers the previous hash and the content as canonical JSON (RFC 8785)`(engine: Engine) async throws {
        try await engine.run { storage in
            let first = try await storage.auditTrail.append(
                AuditRecord(
                    time: Timestamp(milliseconds: 1_767_603_600_123), actor: "key \"Ops\"", action: "plugin.grant",
                    subject: "quiet\n\u{1F}/é", details: ["\u{10000}": "3", "b": "1", "\u{FFFD}": "2"], outcome: .refused))
            let text = #"[1,1767603600123,"key \"Ops\"","plugin.grant","quiet\n\u001f/é","refused",[["b","1"],["�","2"],["𐀀","3"]]]"#
            #expect(String(decoding: first.content, as: UTF8.self) == text)
            #expect(first.hash == Array(SHA256.hash(data: [UInt8](repeating: 0, count: 32) + Array(text.utf8))))
            let second = try await storage.auditTrail.append(AuditRecord(time: HubBench.startTime, actor: "", action: "", subject: ""))
            #expect(String(decoding: second.content, as: UTF8.self) == #"[2,\#(HubBench.startTime.milliseconds),"","","","succeeded",[]]"#)
            #expect(second.hash == Array(SHA256.hash(data: first.hash + second.content)))
        }
    }

    @Test(arguments: Engine.allCases)
    func `Entries are found by their fields, from both ends, page by page`(engine: Engine) async throws {
        try await engine.run { storage in
            let trail = storage.auditTrail
            for number in 1...12 {
                let actor = ["\u{E9}", "e\u{301}", "bob"][number % 3]
                _ = try await trail.append(record(number, actor: actor, action: number.isMultiple(of: 2) ? "even" : "odd"))
            }
            func after(_ sequence: Int64, _ limit: Int, _ filter: AuditFilter = AuditFilter()) async throws -> [Int64] {
                try await trail.entries(after: sequence, limit: limit, filter).map(\.sequence)
            }
            func before(_ sequence: Int64?, _ limit: Int, _ filter: AuditFilter = AuditFilter()) async throws -> [Int64] {
                try await trail.entries(before: sequence, limit: limit, filter).map(\.sequence)
            }
            #expect(try await after(0, 5) == [1, 2, 3, 4, 5])
            #expect(try await after(10, 5) == [11, 12])
            #expect(try await after(12, 5) == [])
            #expect(try await before(nil, 3) == [12, 11, 10])
            #expect(try await before(3, 3) == [2, 1])
            #expect(try await before(1, 3) == [])
            // Spellings that look the same are two actors.
            #expect(try await after(0, 9, AuditFilter(actor: "\u{E9}")) == [3, 6, 9, 12])
            #expect(try await before(nil, 2, AuditFilter(actor: "e\u{301}")) == [10, 7])
            #expect(try await after(2, 9, AuditFilter(action: "odd")) == [3, 5, 7, 9, 11])
            #expect(try await before(8, 9, AuditFilter(actor: "bob", action: "even")) == [2])
            #expect(try await after(0, 9, AuditFilter(actor: "Bob")) == [])
            #expect(try await after(0, 9, AuditFilter(since: HubBench.startTime + .seconds(10))) == [10, 11, 12])
            #expect(try await before(12, 9, AuditFilter(action: "even", since: HubBench.startTime + .seconds(9))) == [10])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Entries appended at the same time form one chain`(engine: Engine) async throws {
        try await engine.run { storage in
            let trail = storage.auditTrail
            let entries = try await withThrowingTaskGroup(of: AuditEntry.self) { group in
                for number in 0..<100 {
                    let record = record(number)
                    group.addTask { try await trail.append(record) }
                }
                return try await group.reduce(into: [AuditEntry]()) { $0.append($1) }
            }
            let sorted = entries.sorted { $0.sequence < $1.sequence }
            #expect(sorted.map(\.sequence) == Array(1...100))
            #expect(try await trail.entries(after: 0, limit: 200, AuditFilter()) == sorted)
            #expect(try await trail.verify() == .intact(AuditHead(sequence: 100, hash: try #require(sorted.last).hash)))
        }
    }

    @Test(arguments: Engine.allCases)
    func `An entry that is too large is rejected, and the next one follows the last stored entry`(engine: Engine) async throws {
        try await engine.run { storage in
            let trail = storage.auditTrail
            #expect(try await trail.verify() == .intact(.start))
            _ = try await trail.append(record(1))
            var large = record(2)
            large.details = ["text": String(repeating: "x", count: 65_536)]
            let error = await refusal { try await trail.append(large) }
            #expect(error?.code == "audit.too_large" && error?.status == 413)
            #expect(try await trail.append(record(3)).sequence == 2)
            guard case .intact(let end) = try await trail.verify() else {
                Issue.record("the log is reported as modified")
                return
            }
            #expect(end.sequence == 2)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A chain is verified against a head recorded earlier`(engine: Engine) async throws {
        try await engine.run { storage in
            let trail = storage.auditTrail
            var ends = [AuditHead.start]
            for number in 1...4 {
                let entry = try await trail.append(record(number))
                ends.append(AuditHead(sequence: entry.sequence, hash: entry.hash))
            }
            for end in ends {
                #expect(try await trail.verify(against: end) == .intact(ends[4]))
                #expect(try AuditHead(recorded: end.text) == end)
                var other = end
                other.hash[0] ^= 1
                #expect(try await trail.verify(against: other) == .broken(AuditBreak(sequence: end.sequence, reason: .replaced)))
            }
            let later = AuditHead(sequence: 9, hash: ends[4].hash)
            #expect(try await trail.verify(against: later) == .broken(AuditBreak(sequence: 5, reason: .missing)))
            #expect(try await trail.verify(against: nil) == .intact(ends[4]))
        }
    }
}

import PushModel
import Support
import Testing

@testable import Storage

/// Two programs on one database. Each step is made as if it ran alone.
@Suite struct TwoServersTests {
    private func account(_ name: String, cost: Int) throws -> Account {
        Account(user: try Tag.username(name), username: name, hash: PasswordHash(cost: cost, salt: [0], digest: [UInt8(cost % 256)]))
    }

    @Test func `A transaction that decided from what another one has changed since is refused`() async throws {
        try await PostgreSQLBench.run { bench in
            let (old, new) = (try account("ann", cost: 16), try account("ann", cost: 32))
            #expect(try await bench.storage.accounts.insert(old))
            let other = PostgreSQLSlot(bench.address, PostgreSQLLimits())
            try await other.perform { connection throws in
                connection.begin(.change)
                #expect(try connection.first("SELECT cost FROM account") { $0.integer(0) } == 16)
            }
            #expect(try await bench.storage.accounts.update(new))
            try await other.perform { connection throws in
                let error = #expect(throws: PostgreSQLError.self) {
                    try connection.run("INSERT INTO session VALUES ('a', 'username:ann', 'ann', 0)")
                    try connection.run("UPDATE account SET username = username")
                    try connection.commit()
                }
                #expect(error?.isConflict == true)
                connection.rollBack()
            }
        }
    }

    @Test func `No session outlives the password that opened it`() async throws {
        try await PostgreSQLBench.runTwo { first, second in
            for round in 0..<40 {
                let (old, new) = (try account("user\(round)", cost: 16), try account("user\(round)", cost: 32))
                #expect(try await first.storage.accounts.insert(old))
                let session = StoredSession(digest: [UInt8(round)], username: old.username, expiration: .distantFuture)
                async let opened = first.storage.accounts.open(session, of: old.user, with: old.hash)
                async let changed = second.storage.accounts.update(new)
                _ = try await (opened, changed)
                #expect(try await first.storage.accounts.session([UInt8(round)]) == nil, "\(round)")
            }
        }
    }

    @Test func `A limit of secure payloads holds`() async throws {
        try await PostgreSQLBench.runTwo { first, second in
            let (ann, bob) = (try Tag("ann"), try Tag("bob"))
            let insertions = try await withThrowingTaskGroup(of: SecurePayloadInsertion.self) { group in
                for number in 0..<20 {
                    let bench = number.isMultiple(of: 2) ? first : second
                    let payload = SealedPayload(id: "\(number)", sender: ann, recipient: bob, expiration: .distantFuture, sealed: [1])
                    group.addTask { try await bench.storage.securePayloads.insert(payload, limit: 5, ofSender: 5) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(insertions.count { $0 == .inserted } == 5)
            #expect(try await first.storage.securePayloads.readable(by: bob).count == 5)
        }
    }

    @Test func `The audit trail is one chain without gaps`() async throws {
        try await PostgreSQLBench.runTwo { first, second in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    let bench = number.isMultiple(of: 2) ? first : second
                    group.addTask {
                        _ = try await bench.storage.auditTrail.append(
                            AuditRecord(time: HubBench.startTime, actor: "a", action: "b", subject: "\(number)"))
                    }
                }
                try await group.waitForAll()
            }
            guard case .intact(let end) = try await first.storage.auditTrail.verify() else {
                Issue.record("the chain is broken")
                return
            }
            #expect(end.sequence == 100)
        }
    }

    @Test func `Repeated sends in opposite order are stored once and do not deadlock`() async throws {
        try await PostgreSQLBench.runTwo { first, second in
            let count = 100 as Int64
            func send(_ bench: PostgreSQLBench, _ numbers: [Int64], from start: Int64) async throws -> Int {
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in numbers {
                        let notification = try Samples.notification(start + number, key: "key-\(number)")
                        group.addTask { try await bench.store.accept(notification) == .accepted }
                    }
                    return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
            }
            async let left = send(first, Array(1...count), from: 0)
            async let right = send(second, Array((1...count).reversed()), from: 1000)
            let (accepted, others) = try await (left, right)
            #expect(accepted + others == Int(count))
            #expect(try await first.sequences().count == Int(count))
        }
    }

    @Test func `Slots, sums and runs with one key are given out once`() async throws {
        try await PostgreSQLBench.runTwo { first, second in
            let record = RunRecord(
                flow: "a", script: "a.lua", origin: RunOrigin(.command(by: "owner"), key: "once"), guarantee: .atMostOnce,
                lifecycle: RunLifecycle(queuedAt: HubBench.startTime))
            var (granted, started) = (0, 0)
            for (taken, isNew) in try await withThrowingTaskGroup(
                of: (Int, Bool).self,
                body: { group in
                    for number in 0..<30 {
                        let storage = (number.isMultiple(of: 2) ? first : second).storage
                        group.addTask {
                            let space = storage.keyValues.space("plugin")
                            _ = try await space.add(1, to: "sum", expiresIfNew: nil, now: HubBench.startTime)
                            let taken = try await space.take(["slot"], "token-\(number)", of: 7)
                            let added = try await storage.runs.add([record], RunCause())
                            return (taken == [true] ? 1 : 0, added.first?.isRepeated == false)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                })
            {
                granted += taken
                started += isNew ? 1 : 0
            }
            #expect(granted == 7 && started == 1)
            #expect(try await first.storage.keyValues.space("plugin").value("sum") == 30)
        }
    }

    @Test func `A reader that goes on after the last event misses none`() async throws {
        try await PostgreSQLBench.runTwo { first, second in
            let rounds = 40
            async let written: Void = withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<rounds {
                    let bench = number.isMultiple(of: 2) ? first : second
                    group.addTask {
                        var change = RegistrationChange()
                        change.events = [
                            HubEvent(hub: "h", kind: .tokenExpired, time: HubBench.startTime, facts: ["id": .integer(Int64(number))])
                        ]
                        try await bench.store.commit(change)
                    }
                }
                try await group.waitForAll()
            }
            var seen: Set<Int64> = []
            while seen.count < rounds {
                let events = try await first.storage.runs.events(limit: 3)
                for event in events { if case .integer(let id)? = event.facts["id"] { seen.insert(id) } }
                if let last = events.last?.number { _ = try await first.storage.runs.add([], RunCause(events: last)) }
            }
            try await written
            #expect(seen.count == rounds)
        }
    }
}

extension PostgreSQLSlot {
    /// Runs work with the connection on its thread.
    fileprivate func perform(_ work: @escaping @Sendable (PostgreSQLConnection) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            run { slot in continuation.resume(with: Result { try slot.withConnection(work) }) }
        }
    }
}

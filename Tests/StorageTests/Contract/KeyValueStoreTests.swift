import PushModel
import Storage
import Support
import Testing

@Suite struct KeyValueStoreTests {
    private let startTime = HubBench.startTime

    @Test(arguments: Engine.allCases)
    func `A value is returned unchanged, with its version and its expiry`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            let values: [JSON] = [
                .null, true, 0, .integer(.min), .integer(.max), 2.5, .string(Samples.oddText), "", [], [1, ["n": 2.5]],
                ["b": [.null], "a": .string(Samples.oddText)],
            ]
            for (number, value) in values.enumerated() {
                let key = "\(Samples.oddText) \(number)"
                let expires = number.isMultiple(of: 2) ? nil : startTime + .seconds(9)
                let version = try #require(try await space.put(value, for: key, expires: expires))
                #expect(try await space.value(key, now: startTime) == KeyValueEntry(value: value, version: version, expires: expires))
            }
            // The members of an object stay in order.
            #expect(try await space.value("\(Samples.oddText) 10", now: startTime)?.value.object?.keys == ["b", "a"])
            // A new value removes the expiry of the old one.
            try await space.put(1, for: "\(Samples.oddText) 1")
            #expect(try await space.value("\(Samples.oddText) 1", now: .distantFuture)?.value == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Keys and spaces are compared by their bytes`(engine: Engine) async throws {
        try await engine.runSpaces { spaces throws in
            let names = ["\u{E9}", "e\u{301}", "E", "e", "e\u{0}", "e\u{0}\u{0}", " e", "\u{10FFFF}", "\u{FFFF}"]
            for (number, name) in names.enumerated() {
                for (index, space) in names.enumerated() {
                    try await spaces.space(space).put(.integer(Int64(number * 100 + index)), for: name)
                }
            }
            for (number, name) in names.enumerated() {
                for (index, space) in names.enumerated() {
                    #expect(try await spaces.space(space).value(name) == .integer(Int64(number * 100 + index)))
                }
            }
            let sorted = names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
            #expect(try await spaces.names().map { Array($0.utf8) } == sorted)
            let keys = try await spaces.space("e").keys(prefix: "", after: nil, limit: 99, now: startTime)
            #expect(keys.map { Array($0.utf8) } == sorted)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Several values are returned in the order of their keys, and missing ones are nil`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            for number in 0..<5 as Range<Int64> { try await space.put(.integer(number), for: "\(number)") }
            let found = try await space.values(["3", "x", "0", "3"], now: startTime)
            #expect(found.map(\.?.value) == [3, nil, 0, 3])
            #expect(try await space.values([], now: startTime).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A conditional change is made if its condition holds; otherwise the current version is reported`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            func put(_ value: JSON, _ condition: KeyValueCondition) async throws -> KeyValuePut {
                try await space.put(value, for: "k", expires: nil, if: condition, now: startTime)
            }
            func remove(_ condition: KeyValueCondition) async throws -> KeyValueRemoval {
                try await space.remove("k", if: condition, now: startTime)
            }
            #expect(try await put(1, .version(1)) == .conflict(version: nil))
            #expect(try await remove(.version(1)) == .conflict(version: nil))
            #expect(try await remove(.always) == .missing)
            #expect(try await remove(.absent) == .missing)
            #expect(try await space.usage() == KeyValueUsage())
            guard case .stored(let first) = try await put(1, .absent) else {
                Issue.record("nothing was there")
                return
            }
            #expect(try await put(2, .absent) == .conflict(version: first))
            #expect(try await put(2, .version(first - 1)) == .conflict(version: first))
            #expect(try await remove(.absent) == .conflict(version: first))
            #expect(try await remove(.version(first + 1)) == .conflict(version: first))
            #expect(try await space.value("k") == 1)
            guard case .stored(let second) = try await put(2, .version(first)) else {
                Issue.record("the version was right")
                return
            }
            #expect(try await space.value("k", now: startTime) == KeyValueEntry(value: 2, version: second, expires: nil))
            #expect(try await remove(.version(first)) == .conflict(version: second))
            #expect(try await remove(.version(second)) == .removed)
            #expect(try await space.value("k") == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A version is never used twice, even if entries are removed`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            var versions: [Int64] = []
            func put(_ value: JSON) async throws { versions.append(try #require(try await space.put(value, for: "k"))) }
            try await put(1)
            try await put(1)
            _ = try await space.remove("k", if: .always, now: startTime)
            try await put(1)
            try await space.clear()
            try await put(1)
            #expect(try await space.add(1, to: "k", expiresIfNew: nil, now: startTime) == 2)
            versions.append(try #require(try await space.value("k", now: startTime)).version)
            // Even if the clock is set back.
            versions.append(try #require(try await space.put(1, for: "k", now: Timestamp(milliseconds: 0))))
            #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 }, "\(versions)")
        }
    }

    @Test(arguments: Engine.allCases)
    func `An entry is absent from its expiry on, and uses quota until it is removed`(engine: Engine) async throws {
        try await engine.runSpaces { spaces throws in
            let (space, other) = (spaces.space("plugin"), spaces.space("other"))
            let (expires, late) = (startTime + .seconds(10), startTime + .milliseconds(9999))
            for key in ["a", "b", "c", "d"] { try await space.put(1, for: key, expires: expires) }
            try await space.put(1, for: "stays")
            try await other.put(1, for: "x", expires: expires)
            #expect(try await space.keys(prefix: "", after: nil, limit: 9, now: late) == ["a", "b", "c", "d", "stays"])
            #expect(try await space.values(["a", "stays"], now: late).map(\.?.value) == [1, 1])
            #expect(try await space.values(["a", "stays"], now: expires).map(\.?.value) == [nil, 1])
            #expect(try await space.keys(prefix: "", after: nil, limit: 9, now: expires) == ["stays"])
            #expect(try await space.remove("a", if: .always, now: expires) == .missing)
            #expect(try await space.put(2, for: "a", expires: nil, if: .version(1), now: expires) == .conflict(version: nil))
            #expect(try await space.add(5, to: "b", expiresIfNew: nil, now: expires) == 5)
            guard case .stored = try await space.put(2, for: "a", expires: nil, if: .absent, now: expires) else {
                Issue.record("it had expired")
                return
            }
            #expect(try await space.usage().entries == 5)
            #expect(try await spaces.removeExpired(now: late, limit: 9) == 0)
            #expect(try await spaces.removeExpired(now: expires, limit: 2) == 2)
            #expect(try await spaces.removeExpired(now: expires, limit: 2) == 1)
            #expect(try await spaces.removeExpired(now: expires, limit: 2) == 0)
            #expect(try await space.usage() == KeyValueUsage(entries: 3, bytes: 1 + 1 + 1 + 1 + 5 + 1))
            #expect(try await spaces.names() == ["plugin"])
            #expect(try await space.keys(prefix: "", after: nil, limit: 9, now: late) == ["a", "b", "stays"])
        }
    }

    // MARK: - Numbers

    @Test(arguments: Engine.allCases)
    func `Concurrent additions lose nothing, and each returns a different sum`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            let now = startTime
            let numbers = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<100 { group.addTask { try await space.add(3, to: "n", expiresIfNew: nil, now: now) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(numbers.sorted() == (1...100).map { $0 * 3 })
            #expect(try await space.value("n") == 300)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A number expires at the time set when it was created, and then starts again`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            #expect(try await space.add(2, to: "n", expiresIfNew: startTime + .seconds(10), now: startTime) == 2)
            let later = startTime + .milliseconds(9500)
            // The remaining lifetime may be shorter than the minimum for a new number.
            #expect(try await space.add(-5, to: "n", expiresIfNew: later + .seconds(60), now: later) == -3)
            #expect(try await space.value("n", now: later)?.expires == startTime + .seconds(10))
            let over = startTime + .seconds(10)
            #expect(try await space.add(7, to: "n", expiresIfNew: nil, now: over) == 7)
            #expect(try await space.value("n", now: over)?.expires == nil)
            #expect(try await space.add(1, to: "n", expiresIfNew: over + .seconds(60), now: over) == 8)
            #expect(try await space.value("n", now: over)?.expires == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Additions to anything but an integer, or beyond 64 bits, are rejected`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            func error(_ amount: Int64) async -> PushError? {
                await refusal { try await space.add(amount, to: "k", expiresIfNew: nil, now: startTime) }
            }
            for value in [.null, true, "7", 2.5, 1e300, [], [1], ["n": 1]] as [JSON] {
                try await space.put(value, for: "k")
                let error = await error(1)
                #expect(error?.code == "kv.not_a_number" && error?.message.contains("\"k\"") == true, "\(value)")
                #expect(try await space.value("k") == value)
            }
            for (value, amount) in [(Int64.max, Int64(1)), (.min, -1), (.min, .min)] {
                try await space.put(.integer(value), for: "k")
                #expect(await error(amount)?.code == "kv.out_of_range")
                #expect(try await space.value("k") == .integer(value))
            }
            #expect(try await space.add(.max, to: "k", expiresIfNew: nil, now: startTime) == -1)
            try await space.put(5.0, for: "k")
            #expect(try await space.add(1, to: "k", expiresIfNew: nil, now: startTime) == 6)
        }
    }

    // MARK: - Keys

    @Test(arguments: Engine.allCases)
    func `Keys with a prefix are listed page by page, each exactly once`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            let keys = ["a", "a/", "a/1", "a/10", "a/2", "a/\u{0}", "a/\u{10FFFF}", "a/\u{10FFFF}\u{10FFFF}", "a/é", "a0", "b"]
            for key in keys.reversed() { try await space.put(1, for: key) }
            let expected = keys.filter { $0.utf8.starts(with: "a/".utf8) }.map { Array($0.utf8) }
                .sorted { $0.lexicographicallyPrecedes($1) }
            for limit in [1, 2, 3, expected.count, 99] {
                var (found, last): ([[UInt8]], String?) = ([], nil)
                while case let page = try await space.keys(prefix: "a/", after: last, limit: limit, now: startTime), let end = page.last {
                    #expect(page.count <= limit)
                    found += page.map { Array($0.utf8) }
                    last = end
                }
                #expect(found == expected)
            }
            #expect(try await space.keys(prefix: "a/", after: "A", limit: 1, now: startTime) == ["a/"])
            #expect(try await space.keys(prefix: "a/", after: "a/1", limit: 1, now: startTime) == ["a/10"])
            #expect(try await space.keys(prefix: "a/", after: "b", limit: 9, now: startTime) == [])
            #expect(try await space.keys(prefix: "", after: "a0", limit: 9, now: startTime) == ["b"])
            #expect(try await space.keys(prefix: "c", after: nil, limit: 9, now: startTime) == [])
        }
    }

    // MARK: - Spaces

    @Test(arguments: Engine.allCases)
    func `A cleared space is empty, and other spaces are unchanged`(engine: Engine) async throws {
        try await engine.runSpaces { spaces throws in
            let (space, other) = (spaces.space("plugin"), spaces.space("other"))
            let puts: [Work] = (0..<450).map { number in { try await space.put(1, for: "\(number)") } }
            #expect(await outcomes(puts).allSatisfy { $0 == nil })
            #expect(try await space.take(["a"], "t", of: 1) == [true])
            try await other.put(1, for: "x")
            #expect(try await spaces.names() == ["other", "plugin"])
            try await space.clear()
            #expect(try await space.usage() == KeyValueUsage())
            #expect(try await space.keys(prefix: "", after: nil, limit: 9, now: startTime) == [])
            #expect(try await space.take(["a"], "u", of: 1) == [true])
            try await space.clear()
            #expect(try await spaces.names() == ["other"])
            #expect(try await other.value("x") == 1)
            try await spaces.space("new").clear()
            #expect(try await spaces.names() == ["other"])
        }
    }

    /// An omission in one engine shows as a difference from the other.
    @Test(arguments: [Engine.sqlite, .postgresql])
    func `All engines return the same results for any operations`(engine: Engine) async throws {
        let quota = KeyValueQuota(entries: 12, bytes: 420)
        try await Engine.memory.runSpace(quota) { memory throws in
            try await engine.runSpace(quota) { other throws in
                let random = SeededRandom(seed: 7)
                var now = startTime
                var seen: [String: Int] = [:]
                for step in 0..<1500 {
                    let operation = Operation(random, now: now)
                    let (left, right) = (await operation.run(memory), await operation.run(other))
                    #expect(left == right, "\(step): \(operation)")
                    seen[String(left.prefix { $0 != "(" && $0 != " " }), default: 0] += 1
                    #expect(try await memory.usage() == (try await other.usage()), "\(step): \(operation)")
                    now = now + .milliseconds(Int64(random.next() % 300))
                }
                // Every possible result has occurred.
                for outcome in ["stored", "conflict", "removed", "missing", "kv.full", "kv.not_a_number", "take"] {
                    #expect(seen[outcome, default: 0] > 10, "\(outcome): \(seen)")
                }
            }
        }
    }

    private enum Operation {
        case put(JSON, String, Timestamp?, KeyValueCondition, Timestamp)
        case remove(String, KeyValueCondition, Timestamp)
        case add(Int64, String, Timestamp?, Timestamp)
        case take([String], String, Int, Timestamp)
        case read(Timestamp)

        init(_ random: SeededRandom, now: Timestamp) {
            func number(_ bound: UInt64) -> Int { Int(random.next() % bound) }
            let key = "key-\(number(9))"
            let expires = number(2) == 0 ? nil : now + .milliseconds(Int64(1000 + number(5000)))
            let condition: KeyValueCondition =
                [.always, .always, .absent, .version(now.milliseconds - Int64(number(300)))][number(4)]
            switch number(10) {
            case 0...3:
                let value: JSON = number(3) == 0 ? .integer(Int64(number(9))) : .string(String(repeating: "x", count: number(60)))
                self = .put(value, key, expires, condition, now)
            case 4: self = .remove(key, condition, now)
            case 5...6: self = .add(Int64(number(9)) - 4, key, expires, now)
            case 7...8: self = .take((0...number(3)).map { _ in "key-\(number(6))" }, "token-\(number(8))", 2, now)
            default: self = .read(now)
            }
        }

        func run(_ space: any KeyValueStore) async -> String {
            do throws(PushError) {
                return try await answer(of: space)
            } catch {
                return "\(error.code) \(error)"
            }
        }

        private func answer(of space: any KeyValueStore) async throws(PushError) -> String {
            switch self {
            case .put(let value, let key, let expires, let condition, let now):
                return "\(try await space.put(value, for: key, expires: expires, if: condition, now: now))"
            case .remove(let key, let condition, let now): return "\(try await space.remove(key, if: condition, now: now))"
            case .add(let amount, let key, let expires, let now):
                return "sum \(try await space.add(amount, to: key, expiresIfNew: expires, now: now))"
            case .take(let keys, let token, let limit, let now):
                return "take \(try await space.take(keys, token: token, limit: limit, within: .seconds(3), now: now))"
            case .read(let now):
                let keys = try await space.keys(prefix: "key", after: nil, limit: 99, now: now)
                return "read \(keys) \(try await space.values(keys, now: now))"
            }
        }
    }
}

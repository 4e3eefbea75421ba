import PushModel
import Storage
import Support
import Testing

/// The limits of a space, which are checked before anything changes.
@Suite struct KeyValueLimitTests {
    private let startTime = HubBench.startTime

    @Test(arguments: Engine.allCases)
    func `A key has 1 to 256 bytes, in every operation`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            let longest = String(repeating: "é", count: 128)
            try await space.put(1, for: longest)
            #expect(try await space.take([longest], longest) == [true])
            #expect(try await space.value(longest) == 1)
            let used = try await space.usage()
            for key in ["", longest + "x"] {
                let errors = [
                    await refusal { try await space.put(1, for: key, expires: nil, if: .always, now: startTime) },
                    await refusal { try await space.value(key, now: startTime) },
                    await refusal { try await space.values(["a", key], now: startTime) },
                    await refusal { try await space.remove(key, if: .always, now: startTime) },
                    await refusal { try await space.add(1, to: key, expiresIfNew: nil, now: startTime) },
                    await refusal { try await space.take(["a", key], "t") },
                    await refusal { try await space.take(["a"], key) },
                ]
                for (number, error) in errors.enumerated() {
                    #expect(error?.code == "kv.key" && error?.status == 400, "\(number)")
                    #expect((error?.message.utf8.count ?? 0) < 200, "\(number)")
                }
            }
            #expect(try await space.usage() == used)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A value is limited to 64 KiB of JSON and to the nesting depth that can be read`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            // Including the quotes.
            let largest = JSON.string(String(repeating: "x", count: 65_534))
            try await space.put(largest, for: "k")
            #expect(try await space.usage() == KeyValueUsage(entries: 1, bytes: 65_537))
            func nested(_ depth: Int) -> JSON { (0..<depth).reduce(0) { value, _ in [value] } }
            try await space.put(nested(128), for: "deep")
            #expect(try await space.value("deep") == nested(128))
            for value in [.string(String(repeating: "x", count: 65_535)), .string(String(repeating: "\u{1}", count: 11_000)), nested(129)] {
                let error = await refusal { try await space.put(value, for: "k", expires: nil, if: .always, now: startTime) }
                #expect(error?.code == "kv.too_large" && error?.status == 413)
                #expect(error?.message.contains("\"k\"") == true)
            }
            #expect(try await space.value("k") == largest)
        }
    }

    @Test(arguments: Engine.allCases)
    func `An expiry or a period is 1 second to 1,830 days`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            let years = Duration.seconds(1830 * 86_400)
            for lifetime in [.seconds(1), years] {
                try await space.put(1, for: "k", expires: startTime + lifetime)
                #expect(try await space.take(["\(lifetime)"], token: "t", limit: 1, within: lifetime, now: startTime) == [true])
            }
            for lifetime in [.zero, .milliseconds(999), .seconds(-5), years + .milliseconds(1)] {
                let errors = [
                    await refusal { try await space.put(2, for: "k", expires: startTime + lifetime, if: .always, now: startTime) },
                    await refusal { try await space.add(1, to: "k", expiresIfNew: startTime + lifetime, now: startTime) },
                    await refusal { try await space.take(["k"], token: "u", limit: 1, within: lifetime, now: startTime) },
                ]
                for error in errors { #expect(error?.code == "kv.ttl" && error?.status == 400, "\(lifetime)") }
            }
            let never = Timestamp(milliseconds: .max)
            #expect(await refusal { try await space.put(2, for: "k", expires: never, if: .always, now: startTime) }?.code == "kv.ttl")
            #expect(try await space.value("k") == 1)
            #expect(try await space.take(["k"], token: "u", limit: 1, within: .seconds(1), now: startTime) == [true])
        }
    }

    @Test(arguments: Engine.allCases)
    func `One call reads at most 1,000 keys, and a key has 1 to 1,000 slots`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            let keys = (0..<1001).map { "\($0)" }
            #expect(try await space.values(keys.dropLast(), now: startTime).count == 1000)
            #expect(try await space.take(keys.dropLast(), "t") == Array(repeating: true, count: 1000))
            #expect(await refusal { try await space.values(keys, now: startTime) }?.code == "kv.too_many")
            #expect(await refusal { try await space.take(keys, "u") }?.code == "kv.too_many")
            for limit in [-1, 0, 1001] {
                #expect(await refusal { try await space.keys(prefix: "", after: nil, limit: limit, now: startTime) }?.code == "kv.too_many")
                #expect(await refusal { try await space.take(["a"], "u", of: limit) }?.code == "kv.slots")
            }
            #expect(try await space.take(["a"], "u", of: 1000) == [true])
            #expect(try await space.usage().entries == 1001)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A full space rejects new entries, accepts changes, and has space again after a removal`(engine: Engine) async throws {
        try await engine.runSpaces(KeyValueQuota(entries: 3, bytes: 60)) { spaces throws in
            let space = spaces.space("plugin")
            func full(_ work: () async throws -> Void) async -> Bool {
                let error = await refusal { try await work() }
                #expect(error?.status == 507 && error?.message.contains("\"plugin\"") == true)
                return error?.code == "kv.full"
            }
            for key in ["a", "b", "c"] { try await space.put(1, for: key) }
            #expect(await full { try await space.put(1, for: "d") })
            #expect(await full { _ = try await space.add(1, to: "d", expiresIfNew: nil, now: startTime) })
            #expect(await full { _ = try await space.take(["d"], "t") })
            try await space.put(2, for: "a")
            #expect(try await space.add(1, to: "b", expiresIfNew: nil, now: startTime) == 2)
            // Filled to the last byte.
            try await space.put(.string(String(repeating: "x", count: 53)), for: "c")
            #expect(try await space.usage() == KeyValueUsage(entries: 3, bytes: 60))
            #expect(await full { try await space.put(10, for: "a") })
            #expect(try await space.value("a") == 2)
            #expect(try await space.remove("b", if: .always, now: startTime) == .removed)
            #expect(await full { _ = try await space.take(["s"], "t") })
            try await space.put(1, for: "b")
            // Other spaces have their own quota.
            try await spaces.space("other").put("xxxxxxxxxxxxxxxxxxxx", for: "a")
        }
    }

    @Test(arguments: Engine.allCases)
    func `Expired entries make space for new ones, and are deleted only if that is enough`(engine: Engine) async throws {
        try await engine.runSpace(KeyValueQuota(entries: 3, bytes: 100)) { space throws in
            let later = startTime + .seconds(5)
            for key in ["a", "b"] { try await space.put(1, for: key, expires: later) }
            try await space.put(1, for: "c")
            let error = await refusal { try await space.put(1, for: "d", expires: nil, if: .always, now: later + .milliseconds(-1)) }
            #expect(error?.code == "kv.full")
            let large = JSON.string(String(repeating: "x", count: 98))
            #expect(await refusal { try await space.put(large, for: "d", expires: nil, if: .always, now: later) }?.code == "kv.full")
            #expect(try await space.usage().entries == 3)
            // An expired entry is replaced and not counted twice.
            try await space.put(2, for: "a", now: later)
            #expect(try await space.usage() == KeyValueUsage(entries: 3, bytes: 6))
            try await space.put(1, for: "d", now: later)
            #expect(try await space.keys(prefix: "", after: nil, limit: 9, now: startTime) == ["a", "c", "d"])
            #expect(try await space.usage() == KeyValueUsage(entries: 3, bytes: 6))
        }
    }

    @Test(arguments: Engine.allCases)
    func `If the slots of all keys do not fit, none is taken`(engine: Engine) async throws {
        try await engine.runSpace(KeyValueQuota(entries: 3, bytes: 1000)) { space throws in
            #expect(try await space.take(["a"], "t", of: 1) == [true])
            #expect(await refusal { try await space.take(["a", "b", "c", "d"], "u", of: 1) }?.code == "kv.full")
            #expect(try await space.usage().entries == 1)
            // No refusal was recorded either.
            #expect(try await space.take(["b", "c"], "v", of: 1) == [true, true])
            #expect(try await space.take(["a"], "u", of: 2) == [true])
        }
    }
}

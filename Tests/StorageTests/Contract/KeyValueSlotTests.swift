import PushModel
import Storage
import Support
import Testing

/// A limit per period, which counts every token once.
@Suite struct KeyValueSlotTests {
    private let startTime = HubBench.startTime

    @Test(arguments: Engine.allCases)
    func `Every key has its own slots, as many as the limit`(engine: Engine) async throws {
        try await engine.runSpaces { spaces throws in
            let space = spaces.space("plugin")
            #expect(try await space.take(["a", "b"], "1") == [true, true])
            #expect(try await space.take(["b", "c"], "2") == [true, true])
            #expect(try await space.take(["c", "b", "a"], "3") == [true, false, true])
            #expect(try await space.take(["a", "b", "c", "d"], "4") == [false, false, false, true])
            #expect(try await spaces.space("other").take(["a"], "4") == [true])
            #expect(try await space.take([], "5") == [])
        }
    }

    @Test(arguments: Engine.allCases)
    func `The same token gets the same result and takes no other slot`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            #expect(try await space.take(["a"], "1", of: 1) == [true])
            #expect(try await space.take(["a", "b"], "2", of: 1) == [false, true])
            let used = try await space.usage()
            for _ in 0..<3 {
                #expect(try await space.take(["b", "a"], "2", of: 1, after: .seconds(10)) == [true, false])
                #expect(try await space.take(["a"], "1", of: 1, after: .seconds(10)) == [true])
            }
            #expect(try await space.usage() == used)
            // A refusal also stays the same within its period, even if a slot is free again.
            #expect(try await space.take(["a"], "3", of: 1, after: .seconds(1800)) == [false])
            #expect(try await space.take(["a"], "3", of: 1, after: .seconds(4000)) == [false])
            #expect(try await space.take(["a"], "3", of: 9, after: .seconds(4000)) == [false])
            #expect(try await space.take(["a"], "4", of: 1, after: .seconds(4000)) == [true])
            #expect(try await space.take(["a"], "3", of: 1, after: .seconds(5400)) == [false])
            // After the period the same token is a new request.
            #expect(try await space.take(["a"], "4", of: 1, after: .seconds(7600)) == [true])
            #expect(try await space.take(["a"], "5", of: 1, after: .seconds(7600)) == [false])
        }
    }

    @Test(arguments: Engine.allCases)
    func `A key that is named twice takes one slot`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            #expect(try await space.take(["a", "b", "a", "a"], "1", of: 1) == [true, true, true, true])
            #expect(try await space.take(["a", "c", "a"], "2", of: 1) == [false, true, false])
            #expect(try await space.take(["a", "a"], "3", of: 2) == [true, true])
            #expect(try await space.take(["a"], "4", of: 2) == [false])
        }
    }

    @Test(arguments: Engine.allCases)
    func `A slot is free again exactly when the period has passed`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            #expect(try await space.take(["a"], "1") == [true])
            #expect(try await space.take(["a"], "2", after: .seconds(1800)) == [true])
            #expect(try await space.take(["a"], "3", after: .milliseconds(3_599_999)) == [false])
            #expect(try await space.take(["a"], "4", after: .seconds(3600)) == [true])
            #expect(try await space.take(["a"], "5", after: .milliseconds(5_399_999)) == [false])
            #expect(try await space.take(["a"], "6", after: .seconds(5400)) == [true])
            #expect(try await space.take(["a"], "7", after: .seconds(5400)) == [false])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Simultaneous requests never get more slots than the limit`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            let answers = try await withThrowingTaskGroup(of: [Bool].self) { group in
                // Each token asks twice.
                for number in 0..<60 { group.addTask { try await space.take(["a", "b"], "\(number / 2)", of: 7) } }
                return try await group.reduce(into: [[Bool]]()) { $0.append($1) }
            }
            #expect(answers.count { $0[0] } == 14)
            #expect(answers.count { $0[1] } == 14)
        }
    }

    @Test(arguments: Engine.allCases)
    func `The last hundred refusals are recorded, and all granted slots`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            #expect(try await space.take(["a"], "first", of: 1) == [true])
            for number in 0..<100 { #expect(try await space.take(["a"], "\(number)", of: 1) == [false]) }
            let used = try await space.usage()
            #expect(try await space.take(["a"], "100", of: 1) == [false])
            #expect(try await space.usage() == used)
            // A higher limit shows which tokens are still recorded.
            #expect(try await space.take(["a"], "first", of: 1) == [true])
            #expect(try await space.take(["a"], "1", of: 2) == [false])
            #expect(try await space.take(["a"], "0", of: 2) == [true])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Slots and values of the same name are independent`(engine: Engine) async throws {
        try await engine.runSpaces { spaces throws in
            let space = spaces.space("plugin")
            #expect(try await space.take(["k"], "1", of: 1) == [true])
            #expect(try await space.value("k") == nil)
            #expect(try await space.keys(prefix: "", after: nil, limit: 9, now: startTime) == [])
            try await space.put(1, for: "k")
            #expect(try await space.remove("k", if: .always, now: startTime) == .removed)
            #expect(try await space.take(["k"], "2", of: 1) == [false])
            #expect(try await space.usage().entries == 1)
            // Slots expire like values.
            #expect(try await spaces.removeExpired(now: startTime + .milliseconds(3_599_999), limit: 9) == 0)
            #expect(try await spaces.removeExpired(now: startTime + .seconds(3600), limit: 9) == 1)
            #expect(try await space.usage() == KeyValueUsage())
        }
    }

    @Test(arguments: Engine.allCases)
    func `After a clock was a year ahead, a slot is held for one period from the correction at most`(engine: Engine) async throws {
        try await engine.runSpace { space throws in
            #expect(try await space.take(["a"], "1", of: 1, after: .seconds(365 * 86_400)) == [true])
            #expect(try await space.take(["a"], "1", of: 1) == [true])
            #expect(try await space.take(["a"], "2", of: 1) == [false])
            #expect(try await space.take(["a"], "3", of: 1, after: .seconds(3599)) == [false])
            #expect(try await space.take(["a"], "4", of: 1, after: .seconds(3600)) == [true])
        }
    }
}

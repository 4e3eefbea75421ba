import Testing

@Suite struct HouseRuleTests {
    @Test func `no source file has more than 400 lines`() throws {
        for file in try Package.swiftFiles(in: "Sources") {
            #expect(file.lines.count <= 401, "\(file.path) has \(file.lines.count - 1) lines")
        }
    }

    @Test(
        arguments: ["try!", "fatalError(", "as!", "nonisolated(unsafe)", "unsafeBitCast(", "DispatchSemaphore"])
    func `what crashes, blocks or bypasses the checks of the compiler is not used`(word: String) throws {
        for file in try Package.swiftFiles(in: "Sources") {
            for line in file.code(with: [word]) where line.text.containsWord(word) {
                Issue.record("\(file.path):\(line.number) has \(word)")
            }
        }
    }

    @Test func `an unchecked Sendable is in the machine, and says why`() throws {
        for file in try Package.swiftFiles(in: "Sources") {
            for line in file.code(with: ["@unchecked"]) {
                let above = file.lines[..<(line.number - 1)].reversed().prefix { $0.hasTrimmedPrefix("//") }
                let isExplained = above.contains { $0.hasTrimmedPrefix("// @unchecked:") }
                #expect(file.target == "Lua" || isExplained, "\(file.path):\(line.number)")
            }
        }
    }

    /// The machine has budgets of real time. The runtime has the clocks, and the command line shows progress.
    private static let knowRealTime: Set<String> = ["Lua", "PushRuntime", "PushHost"]
    private static let realTime = [
        "Task.sleep", "ContinuousClock", "SuspendingClock", "Date()", "Date.now", "usleep(", ".asyncAfter(", "NIODeadline.now(",
    ]
    /// Files of other targets that know real time: handlers, which run on the time of their event loop, and the log, which is written
    /// until the process ends.
    private static let filesThatKnowRealTime: [String: Set<String>] = [
        "Sources/WebAPI/Server/ConnectionTimer.swift": ["NIODeadline.now("],
        "Sources/WebAPI/Server/AcceptErrorHandler.swift": ["NIODeadline.now("],
        "Sources/WebAPI/Server/FrameGuard.swift": ["NIODeadline.now("],
        "Sources/Simulators/Connections/AcceptShortageHandler.swift": ["NIODeadline.now("],
        "Sources/PushServer/Logging/LogWriter.swift": [".asyncAfter("],
    ]

    @Test func `no other target knows real time`() throws {
        var excepted: [String: Set<String>] = [:]
        for file in try Package.swiftFiles(in: "Sources") where !Self.knowRealTime.contains(file.target) {
            for line in file.code(with: Self.realTime) {
                for word in Self.realTime where line.text.containsWord(word) {
                    if Self.filesThatKnowRealTime[file.path]?.contains(word) == true {
                        excepted[file.path, default: []].insert(word)
                    } else {
                        Issue.record("\(file.path):\(line.number) has \(word)")
                    }
                }
            }
        }
        #expect(excepted == Self.filesThatKnowRealTime, "an exception is not needed")
    }

    @Test func `no type has the name of a target`() throws {
        let sources = try Package.swiftFiles(in: "Sources")
        let targets = Set(sources.map(\.target))
        for file in try sources + Package.swiftFiles(in: "Tests") {
            for line in file.declarationsOfTypes {
                for match in line.text.matches(of: /\b(?:class|struct|enum|actor|protocol|typealias|associatedtype) +(\w+)/)
                where targets.contains(String(match.1)) {
                    Issue.record("\(file.path):\(line.number) declares \(match.1)")
                }
            }
        }
    }

    @Test func `randomness comes in from outside`() throws {
        for file in try Package.swiftFiles(in: "Sources") where file.target != "PushRuntime" {
            let words = ["SystemRandomNumberGenerator", ".random(in:", ".randomElement(", ".shuffled(", "UUID()"]
            for line in file.code(with: words) {
                for word in words {
                    #expect(!line.text.containsWord(word), "\(file.path):\(line.number) has \(word)")
                }
            }
        }
    }

    @Test func `no test sleeps`() throws {
        for file in try Package.swiftFiles(in: "Tests") {
            let words = ["Task.sleep", "usleep(", "nanosleep("]
            for line in file.code(with: words) {
                for word in words {
                    #expect(!line.text.containsWord(word), "\(file.path):\(line.number) has \(word)")
                }
            }
        }
    }
}

extension StringProtocol {
    /// The text, not as the end of a longer name.
    fileprivate func containsWord(_ word: String) -> Bool {
        ranges(of: word).contains { range in
            guard range.lowerBound > startIndex, word.first?.isLetter == true else { return true }
            let before = self[index(before: range.lowerBound)]
            return !before.isLetter && !before.isNumber && before != "_" && before != "."
        }
    }

    fileprivate func hasTrimmedPrefix(_ prefix: String) -> Bool { drop { $0 == " " }.hasPrefix(prefix) }
}

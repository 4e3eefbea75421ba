import Testing

@Suite struct HouseRuleTests {
    @Test func `no source file has more than 400 lines`() throws {
        for file in try Package.swiftFiles(in: "Sources") {
            #expect(file.lines.count <= 401, "\(file.path) has \(file.lines.count - 1) lines")
        }
    }

    @Test(
        arguments: ["try!", "fatalError(", "as!", "nonisolated(unsafe)", "unsafeBitCast(", "DispatchSemaphore"])
    func `what crashes, blocks or prints by itself is not used`(word: String) throws {
        for file in try Package.swiftFiles(in: "Sources") {
            for line in file.code where line.text.containsWord(word) {
                Issue.record("\(file.path):\(line.number) has \(word)")
            }
        }
    }

    @Test func `an unchecked Sendable is in the machine, and says why`() throws {
        for file in try Package.swiftFiles(in: "Sources") {
            for line in file.code where line.text.contains("@unchecked") {
                let above = file.lines[..<(line.number - 1)].reversed().prefix { $0.hasTrimmedPrefix("//") }
                let isExplained = above.contains { $0.hasTrimmedPrefix("// @unchecked:") }
                #expect(file.target == "Lua" || isExplained, "\(file.path):\(line.number)")
            }
        }
    }

    /// The machine has budgets of real time. The runtime has the clocks, a rehearsal waits for its own wire, a server makes certificates,
    /// and the command line shows progress.
    private static let knowRealTime: Set<String> = ["Lua", "PushRuntime", "PushLab", "PushServer", "PushHost"]

    @Test func `no other target knows real time`() throws {
        for file in try Package.swiftFiles(in: "Sources") where !Self.knowRealTime.contains(file.target) {
            for line in file.code {
                for word in ["Task.sleep", "ContinuousClock(", "SuspendingClock(", "Date(", "usleep("] {
                    #expect(!line.text.containsWord(word), "\(file.path):\(line.number) has \(word)")
                }
            }
        }
    }

    @Test func `randomness comes in from outside`() throws {
        for file in try Package.swiftFiles(in: "Sources") where file.target != "PushRuntime" {
            for line in file.code {
                for word in ["SystemRandomNumberGenerator", ".random(in:", ".randomElement(", ".shuffled(", "UUID()"] {
                    #expect(!line.text.containsWord(word), "\(file.path):\(line.number) has \(word)")
                }
            }
        }
    }

    @Test func `no test sleeps`() throws {
        for file in try Package.swiftFiles(in: "Tests") {
            for line in file.code {
                for word in ["Task.sleep", "usleep(", "nanosleep("] {
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

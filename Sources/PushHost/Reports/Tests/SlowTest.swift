import Bindings
import PushModel

/// A test that took long in real time, for `--slowest`.
struct SlowTest: Sendable {
    let spec: String
    /// The full name of the test.
    let name: String
    let realDuration: Duration

    /// The real time in seconds, such as `0.125`.
    var seconds: String {
        let milliseconds = Int(realDuration.milliseconds)
        return "\(milliseconds / 1000).\((milliseconds % 1000).padded(3))"
    }

    /// The tests that took the longest, at most `count`, the longest first.
    static func longest(of files: [TestFile], count: Int) -> [SlowTest] {
        let all = files.flatMap { file in
            file.records.filter { $0.status != .pending }.map {
                SlowTest(spec: file.script.name, name: $0.test.fullName, realDuration: $0.realDuration)
            }
        }
        return Array(all.sorted { $0.realDuration > $1.realDuration }.prefix(count))
    }

    static func table(_ tests: [SlowTest]) -> TextTable {
        var table = TextTable("#SECONDS", "TEST", "SPEC")
        for test in tests { table.add(test.seconds, test.name, test.spec) }
        return table
    }
}

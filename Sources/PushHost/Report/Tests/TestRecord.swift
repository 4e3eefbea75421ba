import Bindings
import Lua
import PushCore

/// One test and how it ended.
struct TestRecord: Sendable {
    enum Status: String, Sendable { case passed, failed, pending }

    var test: TestCase
    var status: Status
    /// What made it fail: failed expectations first, then the error that ended it.
    var failures: [LuaError] = []
    var log: [String] = []
    var expectations = 0
    /// Virtual time.
    var duration: Duration = .zero
    /// Time of the machine.
    var realDuration: Duration = .zero

    /// A pending test.
    init(test: TestCase) {
        self.test = test
        status = .pending
    }

    init(test: TestCase, refusal: LuaError) {
        self.test = test
        status = .failed
        failures = [refusal]
    }

    init(test: TestCase, result: TestResult) {
        self.test = test
        let report = result.report
        expectations = report.expectations
        duration = report.ended - report.began
        for event in result.events {
            switch event {
            case .log(_, let text, _): log.append(text)
            case .warning(let warning):
                log.append((["warning[\(warning.code)]: \(warning.message)"] + warning.near).joined(separator: "\n  near  "))
            default: break
            }
        }
        var raised: LuaError?
        switch report.verdict {
        case .passed: status = .passed
        case .failed: status = .failed
        case .raised(let error):
            status = .failed
            raised = error
        }
        failures = report.failedExpectations.map { failure in
            if let raised, raised.code == "expect.failed", raised.message == failure.message, raised.location == failure.location {
                return raised
            }
            var error = LuaError(kind: .failure, code: "expect.failed", message: failure.message)
            error.location = failure.location
            return error
        }
        if let raised,
            !failures.contains(where: { $0.code == raised.code && $0.message == raised.message && $0.location == raised.location })
        {
            failures.append(raised)
        }
    }
}

/// A spec with its tests as far as they were run.
struct TestFile: Sendable {
    let script: FlowScript
    /// How many tests it declares.
    var declared = 0
    /// The full name of the first of them.
    var example: String?
    var records: [TestRecord] = []
    /// Why it could not be run at all.
    var failure: LuaError?

    init(script: FlowScript) {
        self.script = script
    }
}

/// The counts of all.
struct TestSummary: Sendable {
    var files: Int
    var ran = 0
    var passed = 0
    var failed = 0
    var pending = 0
    var broken = 0
    var expectations = 0
    var duration: Duration = .zero
    /// Time of the machine, that of tests that ran at the same time added up.
    var realDuration: Duration = .zero
    var wasInterrupted: Bool
    /// A file of results could not be written.
    var isUnwritten = false

    init(_ files: [TestFile], wasInterrupted: Bool) {
        self.files = files.count
        self.wasInterrupted = wasInterrupted
        for file in files {
            if file.failure != nil { broken += 1 }
            for record in file.records {
                ran += 1
                expectations += record.expectations
                duration += record.duration
                realDuration += record.realDuration
                switch record.status {
                case .passed: passed += 1
                case .failed: failed += 1
                case .pending: pending += 1
                }
            }
        }
    }

    var status: Int32 {
        if wasInterrupted { return ExitStatus.interrupted }
        if broken > 0 { return ExitStatus.script }
        if isUnwritten { return ExitStatus.usage }
        return failed > 0 ? ExitStatus.failed : ExitStatus.pass
    }

    var word: String {
        if wasInterrupted { return "INTERRUPTED" }
        return status == ExitStatus.pass ? "PASS" : "FAIL"
    }
}

import Bindings
import Lua
import PushModel

/// A test and its result.
struct TestRecord: Sendable {
    enum Status: String, Sendable { case passed, failed, pending }

    var test: TestCase
    var status: Status
    /// The failures: failed expectations first, then the error that ended the test.
    var failures: [LuaError] = []
    var log: [String] = []
    var expectations = 0
    /// Duration on the virtual clock.
    var duration: Duration = .zero
    /// Duration in real time.
    var realDuration: Duration = .zero
    /// Number of cases of a property that held.
    var cases: Int?
    /// The texts that it compared with snapshots, by key.
    var snapshots: [String: String] = [:]

    /// The record of a pending test.
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
        expectations = report.expectations.count
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
        failures = report.expectations.failures.map { failure in
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
        (cases, snapshots) = (result.cases, result.snapshots)
        if let finding = result.finding, !failures.isEmpty { failures[0].message += "\n\(finding)" }
    }
}

/// A spec file and the results of its tests so far.
struct TestFile: Sendable {
    let script: FlowScript
    /// Number of tests that it declares.
    var declared = 0
    /// Full name of the first test.
    var example: String?
    /// Full names of the tests that it declares.
    var declaredNames: Set<String> = []
    /// Number of tests that the filter selects.
    var matching = 0
    var records: [TestRecord] = []
    /// Why the file could not be run.
    var failure: LuaError?

    init(script: FlowScript) {
        self.script = script
    }
}

/// Totals of a test run.
struct TestSummary: Sendable {
    var files: Int
    var ran = 0
    var passed = 0
    var failed = 0
    var pending = 0
    var broken = 0
    var expectations = 0
    var duration: Duration = .zero
    /// Real time, summed over all tests, including those that ran in parallel.
    var realDuration: Duration = .zero
    var wasInterrupted: Bool
    /// Whether a result file could not be written.
    var isUnwritten = false
    /// Whether a failure ended the run before all tests.
    var wasStopped = false
    /// The seed of the random order.
    var order: UInt64?
    /// Files of snapshots that were written.
    var writtenSnapshots: [String] = []
    /// Snapshots that no test uses, with their files.
    var unusedSnapshots: [String] = []

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

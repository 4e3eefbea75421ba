import Lua

/// The expectations of a run: those without a matcher so far, and the failed ones.
struct ExpectationLog: Sendable {
    private(set) var count = 0
    private(set) var failedCount = 0
    /// The first failures, at most `maximum`.
    private(set) var failures: [FailedExpectation] = []
    /// Locations of expectations that have no matcher yet, by number.
    private var unsettled: [Int: SourceLocation] = [:]
    private var opened = 0

    private static let maximum = 100

    /// Whether no more failures are stored.
    var isFull: Bool { failures.count >= Self.maximum }

    /// The locations of expectations without a matcher, in order.
    var open: [SourceLocation] { unsettled.sorted { $0.key < $1.key }.map(\.value) }

    mutating func open(at location: SourceLocation?) -> Int {
        opened += 1
        unsettled[opened] = location ?? SourceLocation(chunk: "", line: 0)
        return opened
    }

    /// Returns whether the expectation was open.
    mutating func settle(_ id: Int) -> Bool { unsettled.removeValue(forKey: id) != nil }

    mutating func note(_ failure: FailedExpectation?, masking withheld: SecretMasker) {
        count += 1
        guard let failure else { return }
        failedCount += 1
        if !isFull { failures.append(failure.masked(by: withheld).shortened) }
    }

    /// Returns the failures, and clears them and the open expectations.
    mutating func takeFailures() -> [FailedExpectation] {
        defer { (failures, unsettled) = ([], [:]) }
        return failures
    }

    /// Counts the expectations of a nested run that held. A failed one has failed the nested run.
    mutating func absorb(_ inner: ExpectationLog) { count += inner.count - inner.failedCount }
}

extension FailedExpectation {
    /// The failure with texts shortened for reports.
    var shortened: FailedExpectation {
        func cut(_ text: String) -> String { text.utf8.count <= 4000 ? text : "\(text.prefix(1000))…" }
        return FailedExpectation(
            message: cut(message), location: location, expected: expected.map(cut), actual: actual.map(cut))
    }

    var byteCount: Int {
        [message, expected ?? "", actual ?? ""].reduce(0) { $0 + $1.utf8.count }
    }
}

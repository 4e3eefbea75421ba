import ArgumentParser
import PushModel
import Synchronization

/// The error that a command's validation reported.
///
/// The argument parser passes on only the text of such an error. The record keeps its code and hint.
final class ValidationRecord: Sendable {
    @TaskLocal static var current: ValidationRecord?

    private let state = Mutex<PushError?>(nil)

    var error: PushError? { state.withLock { $0 } }

    fileprivate func record(_ error: PushError) { state.withLock { $0 = error } }
}

extension ValidationError {
    /// Makes the error of a command's validation from an error of the program, and records that error.
    init(reporting error: PushError) {
        ValidationRecord.current?.record(error)
        self.init(error.message)
    }

    /// Options or arguments that contradict each other or are missing.
    static func usage(_ message: String, hint: String? = nil) -> ValidationError {
        ValidationError(reporting: PushError("usage.value", message, hint: hint))
    }

    /// An option's value that is out of range.
    static func invalidValue(_ option: String, _ value: some CustomStringConvertible, expected: String) -> ValidationError {
        ValidationError(reporting: .invalidValue(option, value, expected: expected))
    }
}

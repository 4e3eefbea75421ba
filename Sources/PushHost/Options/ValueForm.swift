import Bindings
import PushModel

/// The form of an option's value. Its raw value is the value's name in the help.
///
/// The argument parser reports an invalid value only as text, so the program looks for it again with this check.
enum ValueForm: String, CaseIterable {
    case duration
    /// A whole number that may be 0, such as a seed.
    case number
    /// A whole number from 1.
    case count
    case devices
    case mebibytes = "MiB"
    case seconds
    /// Every Nth request or connection.
    case nth = "N"
    case port
    case portOrNone = "port|none"

    /// Whether the argument parser can read the text.
    func accepts(_ text: String) -> Bool {
        switch self {
        case .duration: Duration(positive: text) != nil
        case .number: UInt64(text) != nil
        case .count, .devices, .mebibytes, .seconds, .nth: Int(text).map { $0 > 0 } == true
        case .port: UInt16(text) != nil
        case .portOrNone: text == "none" || UInt16(text) != nil
        }
    }

    /// The error for a value that the form does not accept.
    func error(_ option: String, _ text: String) -> PushError {
        switch self {
        case .duration:
            PushError(
                "usage.value", "\(option): invalid duration \"\(text)\"",
                hint: "write 500ms, 30s, 5m, 1h or a number of seconds; more than 0")
        case .number: .invalidValue(option, text, expected: "a whole number from 0")
        case .count, .devices, .mebibytes, .seconds, .nth: .invalidValue(option, text, expected: "a whole number from 1")
        case .port: .invalidValue(option, text, expected: "a port from 0 to 65535")
        case .portOrNone: .invalidValue(option, text, expected: "a port from 0 to 65535, or none")
        }
    }
}

extension PushError {
    /// The error for an option's value that is out of range or not of the option's type.
    static func invalidValue(_ option: String, _ value: some CustomStringConvertible, expected: String) -> PushError {
        PushError("usage.value", "\(option): invalid value \"\(value)\"; expected \(expected)")
    }
}

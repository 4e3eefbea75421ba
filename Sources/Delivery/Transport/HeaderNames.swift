import HTTPTypes
import PushModel

extension HTTPField.Name {
    /// Creates a header name from a literal of this program.
    static func fixed(_ name: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name(name.description) else { preconditionFailure("\(name) is not a valid field name") }
        return name
    }
}

extension PushHeader {
    /// The value, if it is valid in a header: visible ASCII and blanks (RFC 9110, section 5.5).
    ///
    /// Some senders put raw bytes where a number belongs. An invalid value is dropped, not repaired.
    var sendableValue: String? {
        let isClean = value.utf8.allSatisfy { (0x20...0x7e).contains($0) }
        return isClean && !value.isEmpty ? value : nil
    }
}

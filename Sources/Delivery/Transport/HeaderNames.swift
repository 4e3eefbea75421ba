import HTTPTypes
import PushCore

extension HTTPField.Name {
    /// A name written in this program.
    static func fixed(_ name: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name(name.description) else { preconditionFailure("\(name) is no field name") }
        return name
    }
}

extension PushHeader {
    /// The value, if it can stand in a header as it is: visible ASCII and blanks (RFC 9110, section 5.5).
    ///
    /// Some senders put raw bytes where a number belongs; what cannot be a value is dropped, not repaired.
    var sendableValue: String? {
        let isClean = value.utf8.allSatisfy { (0x20...0x7e).contains($0) }
        return isClean && !value.isEmpty ? value : nil
    }
}

import HTTPTypes
import HubWire

extension HTTPFields {
    /// The first value of that name that is printable ASCII, without blanks around it; nil for none. What else clients send by
    /// mistake, such as stray bytes, does not count.
    /// - Parameter name: in lower case.
    func text(_ name: String) -> String? {
        for field in self where field.name.canonicalName == name { if let text = field.printable { return text } }
        return nil
    }
    /// All values of that name that are not blank, as text. What must not be overlooked is read so, rather than by `text`.
    /// - Parameter name: in lower case.
    func texts(_ name: String) -> [String] {
        filter { $0.name.canonicalName == name }.map(\.value.trimmed).filter { !$0.isEmpty }
    }
}

extension HTTPField {
    /// The value where it is printable ASCII, without blanks around it.
    var printable: String? {
        let text = value.trimmed
        return text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? text : nil
    }
}

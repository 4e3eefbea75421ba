import HTTPTypes
import HubWire

extension HTTPFields {
    /// The first value of a field that is printable ASCII, trimmed; nil if there is none. Other values are ignored as client mistakes.
    /// - Parameter name: In lower case.
    func text(_ name: String) -> String? {
        for field in self where field.name.canonicalName == name { if let text = field.printable { return text } }
        return nil
    }
    /// All values of a field that are not blank. Use it instead of `text` where no value may be ignored.
    /// - Parameter name: In lower case.
    func texts(_ name: String) -> [String] {
        filter { $0.name.canonicalName == name }.map(\.value.trimmed).filter { !$0.isEmpty }
    }
}

extension HTTPField {
    /// The trimmed value if it is printable ASCII.
    var printable: String? {
        let text = value.trimmed
        return text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? text : nil
    }
}

/// The values that fill a template: the message's properties, then the device's push variables.
///
/// Names are compared without regard to case. If a dictionary contains a name in several spellings, the last in sort order is used, which
/// is the one with the most lower-case letters.
package struct TemplateProperties: Sendable, Equatable {
    private var message: [String: String]
    private var variables: [String: String]

    /// - Parameter fallback: push variables, used if the message lacks a property.
    package init(_ pairs: [String: String], fallback: [String: String] = [:]) {
        message = TemplateProperties.folded(pairs)
        variables = TemplateProperties.folded(fallback)
    }

    /// The same message for another device. Shares the message's properties without copying them.
    package func with(fallback: [String: String]) -> TemplateProperties {
        var copy = self
        copy.variables = TemplateProperties.folded(fallback)
        return copy
    }

    package subscript(name: String) -> String? { value(of: name.lowercased()) }

    /// - Parameter name: in lower case.
    package func value(of name: String) -> String? {
        if let value = message[name] { return value }
        return variables.isEmpty ? nil : variables[name]
    }

    /// Whether the message itself has the property, so that a device's push variable does not replace it.
    /// - Parameter name: in lower case.
    func isFixed(_ name: String) -> Bool { message[name] != nil }

    private static func folded(_ pairs: [String: String]) -> [String: String] {
        let needsFolding = pairs.keys.contains { $0.utf8.contains { (0x41...0x5A).contains($0) || $0 > 0x7F } }
        guard needsFolding else { return pairs }
        var folded: [String: String] = [:]
        folded.reserveCapacity(pairs.count)
        for (name, value) in pairs.sorted(by: { $0.key < $1.key }) { folded[name.lowercased()] = value }
        return folded
    }
}

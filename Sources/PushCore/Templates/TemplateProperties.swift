/// The values a template is filled with: the message's properties, then the push variables of the device.
///
/// Names are compared without regard to case. Where a dictionary has a name in several spellings, the one that sorts
/// last wins, which is the most lower-cased one.
package struct TemplateProperties: Sendable, Equatable {
    private var message: [String: String]
    private var variables: [String: String]

    /// - Parameter fallback: push variables, looked up after the message.
    package init(_ pairs: [String: String], fallback: [String: String] = [:]) {
        message = TemplateProperties.folded(pairs)
        variables = TemplateProperties.folded(fallback)
    }

    /// The same message for another device; the message's properties are shared, not copied.
    package func with(fallback: [String: String]) -> TemplateProperties {
        var copy = self
        copy.variables = TemplateProperties.folded(fallback)
        return copy
    }

    package subscript(name: String) -> String? { value(of: name.lowercased()) }

    /// - Parameter name: in lower case.
    func value(of name: String) -> String? {
        if let value = message[name] { return value }
        return variables.isEmpty ? nil : variables[name]
    }

    /// Whether the message itself has the property, so that the device cannot change it.
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

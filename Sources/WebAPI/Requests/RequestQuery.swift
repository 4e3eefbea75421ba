import HubWire
import PushCore

/// The query of a request, taken apart as its clients write it: a blank as `+` or `%20`, names in any case, flags with or without
/// a value.
package struct RequestQuery: Sendable, Equatable {
    package var items: [(name: String, value: String)]
    /// As it was written, still encoded.
    package let text: String

    /// - Parameter text: what stands behind the `?`, still encoded; nil or empty for none.
    package init(parsing text: some StringProtocol) {
        self.text = String(text)
        items = text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (PercentEncoding.decodeForm(parts[0]), parts.count > 1 ? PercentEncoding.decodeForm(parts[1]) : "")
        }
    }

    /// The first value of that name.
    package subscript(name: String) -> String? {
        let name = name.lowercased()
        return items.first { $0.name.lowercased() == name }?.value
    }

    /// Whether the name occurs, whatever its value: `&direct`, `direct=`, `direct=true`.
    package func has(_ flag: String) -> Bool { self[flag] != nil }

    /// Throws `request.parameter` where a name occurs twice: which of the values was meant, nobody can know.
    func checkUnique() throws(PushError) {
        var names: Set<String> = []
        for (name, _) in items where !names.insert(name.lowercased()).inserted {
            throw PushError("request.parameter", "the parameter \(name) is given twice", hint: "give it once", status: 400)
        }
    }

    package static func == (left: RequestQuery, right: RequestQuery) -> Bool {
        left.items.elementsEqual(right.items) { $0 == $1 }
    }
}

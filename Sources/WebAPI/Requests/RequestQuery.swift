import HubWire
package import PushModel

/// The parsed query of a request. A space is `+` or `%20`, names are case-insensitive, and flags need no value.
package struct RequestQuery: Sendable, Equatable {
    package var items: [(name: String, value: String)]
    /// The encoded query as sent.
    package let text: String

    /// - Parameter text: The encoded text after `?`; empty if there is none.
    package init(parsing text: some StringProtocol) {
        self.text = String(text)
        items = text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (PercentEncoding.decodeForm(parts[0]), parts.count > 1 ? PercentEncoding.decodeForm(parts[1]) : "")
        }
    }

    /// The first value with this name.
    package subscript(name: String) -> String? {
        let name = name.lowercased()
        return items.first { $0.name.lowercased() == name }?.value
    }

    /// Whether the name occurs, whatever its value: `&direct`, `direct=`, `direct=true`.
    package func has(_ flag: String) -> Bool { self[flag] != nil }

    /// The page of a list: `$top`, from 1 to 100, and `continuationtoken`. An invalid number means 100.
    package var page: Page {
        let top = self["$top"].flatMap { Int($0) } ?? 0
        return Page(top: top > 0 ? min(top, 100) : 100, continuation: self["continuationtoken"].flatMap(\.nonEmpty))
    }

    /// Throws `request.parameter` if a name occurs twice, because the intended value is unknown.
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

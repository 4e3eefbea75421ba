/// The members of a JSON object, in order and with unique keys.
///
/// Keys are compared as Swift compares strings: canonically equivalent spellings are one key. Two objects are equal
/// whatever the order of their members.
package struct JSONObject: Sendable {
    package private(set) var members: [(key: String, value: JSON)] = []
    /// The index of each key. Only used for larger objects, where a linear search would be slow.
    private var positions: [String: Int] = [:]

    private static let indexedFrom = 12

    package init() {}

    /// A later pair replaces the value of an earlier one with the same key.
    package init(_ pairs: some Sequence<(String, JSON)>) {
        for (key, value) in pairs { append(key, value) }
    }

    package var count: Int { members.count }
    package var isEmpty: Bool { members.isEmpty }
    package var keys: [String] { members.map(\.key) }

    /// Setting replaces the value of an existing key in its position, or appends a new key. Setting `nil` removes the key.
    package subscript(key: String) -> JSON? {
        get { position(of: key).map { members[$0].value } }
        set {
            guard let newValue else { return remove(key) }
            append(key, newValue)
        }
    }

    /// Appends a member, or replaces the value of an existing key in its position.
    package mutating func append(_ key: String, _ value: JSON) {
        if let position = position(of: key) {
            members[position].value = value
            return
        }
        members.append((key, value))
        if members.count == JSONObject.indexedFrom {
            index()
        } else if members.count > JSONObject.indexedFrom {
            positions[key] = members.count - 1
        }
    }

    private mutating func remove(_ key: String) {
        guard let position = position(of: key) else { return }
        members.remove(at: position)
        index()
    }

    private mutating func index() {
        positions.removeAll()
        guard members.count >= JSONObject.indexedFrom else { return }
        for (position, member) in members.enumerated() { positions[member.key] = position }
    }

    private func position(of key: String) -> Int? {
        members.count < JSONObject.indexedFrom ? members.firstIndex { $0.key == key } : positions[key]
    }
}

extension JSONObject: Equatable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }
}

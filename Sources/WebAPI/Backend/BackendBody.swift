import PushModel

/// The JSON body of a request to the app backend. Member names are case-insensitive, as in the library of Azure's samples.
struct BackendBody: Sendable {
    /// Nil for an empty body, for which some clients send whitespace. Numbers keep their text, because payloads are passed on.
    let json: JSON?

    /// Throws `request.body`.
    init(_ bytes: [UInt8]) throws(PushError) {
        guard !bytes.allSatisfy({ [0x20, 0x09, 0x0a, 0x0d].contains($0) }) else {
            json = nil
            return
        }
        json = try JSON(body: bytes, numbers: .lossless, hint: "send JSON: a string or an object")
    }

    /// - Parameter what: The required members, for the hint.
    func object(_ what: String) throws(PushError) -> Members {
        guard let object = json?.object else { throw Self.refusal("the body is not a JSON object", "send one with \(what)") }
        let names = object.keys.map { $0.lowercased() }
        guard Set(names).count == names.count else {
            throw Self.refusal("the body has two members whose names differ only in case", "send each member once")
        }
        return Members(object)
    }

    static func refusal(_ message: String, _ hint: String) -> PushError {
        PushError("request.body", message, hint: hint, status: 400)
    }

    /// The members of an object, by lower-case name.
    struct Members: Sendable {
        private let values: [String: JSON]
        private let names: [String]

        init(_ object: JSONObject) {
            names = object.keys
            values = Dictionary(object.members.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { _, last in last })
        }

        /// The member's value; nil if absent or null.
        subscript(name: String) -> JSON? { values[name.lowercased()].flatMap { $0 == .null ? nil : $0 } }

        /// Whether the member is present, even if it is null.
        func has(_ name: String) -> Bool { values[name.lowercased()] != nil }

        /// Throws if there are other members than these.
        func check(_ known: [String]) throws(PushError) {
            for name in names where !known.contains(where: { $0.lowercased() == name.lowercased() }) {
                throw refusal(
                    "the body has an unknown member \"\(name)\"",
                    nearest(name, in: known).map { "did you mean \"\($0)\"?" } ?? "known members: \(known.joined(separator: ", "))")
            }
        }

        func text(_ name: String) throws(PushError) -> String {
            guard let value = self[name] else { throw refusal("the body has no \(name)", "add it as a string") }
            guard let text = value.string else { throw refusal("\(name) is not a string", "write it in quotes") }
            return text
        }

        /// Nil if absent.
        func optionalText(_ name: String) throws(PushError) -> String? { self[name] == nil ? nil : try text(name) }

        /// Empty if absent.
        func texts(_ name: String) throws(PushError) -> [String] {
            guard let value = self[name] else { return [] }
            guard let items = value.array else { throw refusal("\(name) is not a list", "write [\"one\", \"two\"]") }
            return try items.map { item throws(PushError) in
                guard let text = item.string else { throw refusal("\(name) has an item that is not a string", "write [\"one\", \"two\"]") }
                return text
            }
        }
    }
}

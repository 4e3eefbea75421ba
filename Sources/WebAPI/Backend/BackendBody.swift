import PushCore

/// What a client of the app backend sends, in JSON. Names of members are understood in any case, as the samples' library does it.
struct BackendBody: Sendable {
    /// Nil for no body, which some clients write as blanks.
    let json: JSON?

    /// Throws `request.body`.
    init(_ bytes: [UInt8]) throws(PushError) {
        guard !bytes.allSatisfy({ [0x20, 0x09, 0x0a, 0x0d].contains($0) }) else {
            json = nil
            return
        }
        json = try JSON(body: bytes, hint: "send JSON: a text in quotes, or an object")
    }

    /// - Parameter what: it must have.
    func object(_ what: String) throws(PushError) -> Members {
        guard let object = json?.object else { throw Self.refusal("the body is no JSON object", "send one with \(what)") }
        let names = object.keys.map { $0.lowercased() }
        guard Set(names).count == names.count else {
            throw Self.refusal("the body has a member twice, in another case", "send each once")
        }
        return Members(object)
    }

    static func refusal(_ message: String, _ hint: String) -> PushError {
        PushError("request.body", message, hint: hint, status: 400)
    }

    /// The members of an object, by their names in lower case.
    struct Members: Sendable {
        private let values: [String: JSON]
        private let names: [String]

        init(_ object: JSONObject) {
            names = object.keys
            values = Dictionary(object.members.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { _, last in last })
        }

        /// Nil where it is absent, or null.
        subscript(name: String) -> JSON? { values[name.lowercased()].flatMap { $0 == .null ? nil : $0 } }

        /// Also null.
        func has(_ name: String) -> Bool { values[name.lowercased()] != nil }

        /// Throws where there are others than these.
        func check(_ known: [String]) throws(PushError) {
            for name in names where !known.contains(where: { $0.lowercased() == name.lowercased() }) {
                throw refusal(
                    "the body has a member \"\(name)\", which means nothing here",
                    nearest(name, in: known).map { "did you mean \"\($0)\"?" } ?? "there are \(known.joined(separator: ", "))")
            }
        }

        func text(_ name: String) throws(PushError) -> String {
            guard let value = self[name] else { throw refusal("the body has no \(name)", "give one, a text") }
            guard let text = value.string else { throw refusal("\(name) is no text", "write it in quotes") }
            return text
        }

        /// Nil where it is absent.
        func optionalText(_ name: String) throws(PushError) -> String? { self[name] == nil ? nil : try text(name) }

        /// Empty where it is absent.
        func texts(_ name: String) throws(PushError) -> [String] {
            guard let value = self[name] else { return [] }
            guard let items = value.array else { throw refusal("\(name) is no list", "write [\"one\", \"two\"]") }
            return try items.map { item throws(PushError) in
                guard let text = item.string else { throw refusal("\(name) has an item that is no text", "write [\"one\", \"two\"]") }
                return text
            }
        }
    }
}

import HubWire
import PushModel

/// The shape of a JSON value, used to validate bodies and parameters and to write the OpenAPI document.
struct JSONSchema: Sendable {
    struct Member: Sendable {
        let name: String
        let schema: JSONSchema
        let isOptional: Bool
    }

    indirect enum Kind: Sendable {
        /// Lengths are in Unicode scalars. The pattern must match the whole text.
        case text(length: ClosedRange<Int>, pattern: String?, format: String?)
        case choice([String])
        case integer(ClosedRange<Int64>)
        case boolean
        case list(JSONSchema, least: Int)
        /// Exactly one of the members in `alternatives` must be present; none of them is allowed if `alternatives` contains ``none``.
        case object([Member], alternatives: [String])
        /// An object with arbitrary keys that match the pattern.
        case map(names: String?, values: JSONSchema)
        /// A string or an object.
        case textOrObject
        case any
    }

    let kind: Kind
    /// A description; nil if the name is sufficient.
    var note: String?
    /// The name under which the document defines the schema; nil: it is written inline.
    var name: String?
    /// Document keywords for rules that the route checks itself, with an error of its own.
    var keywords = JSONObject()

    /// Alternative that allows none of the other members.
    static let none = ""

    /// Maximum length of a text without an explicit length.
    static let longest = 64 << 10

    static func text(
        _ note: String? = nil, length: ClosedRange<Int> = 0...longest, pattern: String? = nil, format: String? = nil
    ) -> JSONSchema {
        JSONSchema(kind: .text(length: length, pattern: pattern, format: format), note: note)
    }

    static func choice(_ note: String?, _ values: [String]) -> JSONSchema { JSONSchema(kind: .choice(values), note: note) }

    static func integer(_ note: String? = nil, _ range: ClosedRange<Int64> = 0...Int64.max) -> JSONSchema {
        JSONSchema(kind: .integer(range), note: note)
    }

    static func boolean(_ note: String? = nil) -> JSONSchema { JSONSchema(kind: .boolean, note: note) }

    static func list(_ note: String? = nil, of item: JSONSchema, least: Int = 0) -> JSONSchema {
        JSONSchema(kind: .list(item, least: least), note: note)
    }

    static func map(_ note: String? = nil, names: String? = nil, of values: JSONSchema) -> JSONSchema {
        JSONSchema(kind: .map(names: names, values: values), note: note)
    }

    static func any(_ note: String) -> JSONSchema { JSONSchema(kind: .any, note: note) }

    static func textOrObject(_ note: String) -> JSONSchema { JSONSchema(kind: .textOrObject, note: note) }

    /// A copy with document keywords for rules that the route checks itself.
    func documented(_ keywords: JSONObject) -> JSONSchema {
        var schema = self
        schema.keywords = keywords
        return schema
    }

    /// Makes an object schema. A member whose name ends with `?` is optional.
    static func object(
        _ name: String?, _ members: KeyValuePairs<String, JSONSchema>, alternatives: [String] = []
    ) -> JSONSchema {
        let members = members.map { name, schema in
            let isOptional = name.hasSuffix("?")
            return Member(name: isOptional ? String(name.dropLast()) : name, schema: schema, isOptional: isOptional)
        }
        return JSONSchema(kind: .object(members, alternatives: alternatives), name: name)
    }
}

// MARK: - OpenAPI document

extension JSONSchema {
    /// The schema as JSON Schema (2020-12). A named schema is added to `components` and referenced.
    func document(_ components: inout JSONObject) -> JSON {
        guard let name else { return .object(body(&components)) }
        if components[name] == nil {
            components[name] = .null
            components[name] = .object(body(&components))
        }
        return ["$ref": .string("#/components/schemas/\(name)")]
    }

    private func body(_ components: inout JSONObject) -> JSONObject {
        var object = JSONObject()
        switch kind {
        case .text(let length, let pattern, let format):
            object["type"] = "string"
            if length.lowerBound > 0 { object["minLength"] = .integer(Int64(length.lowerBound)) }
            if length.upperBound < .max { object["maxLength"] = .integer(Int64(length.upperBound)) }
            if let pattern { object["pattern"] = .string("^(?:\(pattern))$") }
            if let format { object["format"] = .string(format) }
        case .choice(let values):
            object["type"] = "string"
            object["enum"] = .array(values.map { .string($0) })
        case .integer(let range):
            object["type"] = "integer"
            object["minimum"] = .integer(range.lowerBound)
            if range.upperBound < .max { object["maximum"] = .integer(range.upperBound) }
        case .boolean: object["type"] = "boolean"
        case .list(let item, let least):
            object["type"] = "array"
            object["items"] = item.document(&components)
            if least > 0 { object["minItems"] = .integer(Int64(least)) }
        case .object(let members, let alternatives):
            object["type"] = "object"
            object["properties"] = .object(JSONObject(members.map { ($0.name, $0.schema.document(&components)) }))
            let required = members.filter { !$0.isOptional }.map { JSON.string($0.name) }
            if !required.isEmpty { object["required"] = .array(required) }
            object["additionalProperties"] = false
            if !alternatives.isEmpty { object["oneOf"] = .array(Self.choices(alternatives)) }
        case .map(let names, let values):
            object["type"] = "object"
            if let names { object["propertyNames"] = ["pattern": .string("^(?:\(names))$")] }
            object["additionalProperties"] = values.document(&components)
        case .textOrObject: object["type"] = ["string", "object"]
        case .any: break
        }
        for (keyword, value) in keywords.members { object[keyword] = value }
        if let note { object["description"] = .string(note) }
        return object
    }
}

extension JSONSchema {
    private static func choices(_ alternatives: [String]) -> [JSON] {
        let named: [JSON] = alternatives.filter { $0 != none }.map { ["required": [.string($0)]] }
        return alternatives.contains(none) ? named + [["type": "object", "not": ["anyOf": .array(named)]]] : named
    }
}

// MARK: - Validation

extension JSONSchema {
    struct Flaw: Error, Equatable {
        let message: String
        let hint: String
    }

    /// The note on a text's characters, as a hint.
    private var use: String? { note.map { "use \($0.prefix(1).lowercased())\($0.dropFirst())" } }

    /// - Parameter place: The name of the value in messages, such as `the body` or `rights`.
    func check(_ value: JSON, _ place: String) throws(Flaw) {
        switch kind {
        case .text(let length, let pattern, _):
            guard let text = value.string else { throw Flaw(message: "\(place) is not a string", hint: "send a string") }
            let count = text.unicodeScalars.count
            guard length.contains(count) else {
                let least = length.lowerBound == length.upperBound ? "" : "\(length.lowerBound) to "
                throw Flaw(message: "\(place) has \(count) characters", hint: "use \(least)\(length.upperBound) characters")
            }
            if let pattern, !TextPattern(pattern).fits(text) {
                throw Flaw(message: "invalid value \"\(text.prefix(40))\" of \(place)", hint: use ?? "it must match \(pattern)")
            }
        case .choice(let values):
            guard let text = value.string else { throw Flaw(message: "\(place) is not a string", hint: "send one of \(values.listed)") }
            guard values.contains(text) else {
                let near = nearest(text, in: values).map { "; did you mean \"\($0)\"?" } ?? ""
                throw Flaw(message: "invalid value \"\(text.prefix(40))\" of \(place)\(near)", hint: "use one of \(values.listed)")
            }
        case .integer(let range):
            guard let number = value.int, range.contains(Int64(number)) else {
                let most = range.upperBound < .max ? " to \(range.upperBound)" : " or more"
                throw Flaw(message: "\(place) is not an allowed number", hint: "send an integer, \(range.lowerBound)\(most)")
            }
        case .boolean:
            guard value.bool != nil else { throw Flaw(message: "\(place) is neither true nor false", hint: "send true or false") }
        case .list(let item, let least):
            guard let items = value.array else { throw Flaw(message: "\(place) is not a list", hint: "send a JSON array") }
            guard items.count >= least else { throw Flaw(message: "\(place) is empty", hint: "name at least \(least)") }
            for each in items { try item.check(each, "a member of \(place)") }
        case .object(let members, let alternatives): try check(value, place, members, alternatives)
        case .map(let names, let values):
            guard let object = value.object else { throw Flaw(message: "\(place) is not an object", hint: "send a JSON object") }
            let pattern = names.map { TextPattern($0) }
            for (name, each) in object.members {
                guard pattern?.fits(name) ?? true else {
                    throw Flaw(
                        message: "\(place) has the invalid name \"\(name.prefix(40))\"", hint: note ?? "use another name")
                }
                try values.check(each, "\(name.prefix(40)) of \(place)")
            }
        case .textOrObject:
            guard value.string != nil || value.object != nil else {
                throw Flaw(message: "\(place) is neither a string nor an object", hint: note ?? "send one of the two")
            }
        case .any: break
        }
    }

    private func check(_ value: JSON, _ place: String, _ members: [Member], _ alternatives: [String]) throws(Flaw) {
        guard let object = value.object else { throw Flaw(message: "\(place) is not an object", hint: "send a JSON object") }
        let names = members.map(\.name)
        if let stranger = object.keys.first(where: { !names.contains($0) }) {
            let near = nearest(stranger, in: names).map { "did you mean \($0)?" }
            throw Flaw(
                message: "\(place) has no member \"\(stranger.prefix(40))\"", hint: near ?? "its members are \(names.listed)")
        }
        for member in members {
            if let own = object[member.name] {
                try member.schema.check(own, member.name)
            } else if !member.isOptional {
                throw Flaw(message: "\(place) lacks \(member.name)", hint: "add \(member.name)")
            }
        }
        let named = alternatives.filter { $0 != Self.none }
        let given = named.count { object[$0] != nil }
        guard alternatives.isEmpty || given == 1 || given == 0 && alternatives.contains(Self.none) else {
            let extra = named.filter { object[$0] != nil }
            let none = named.count == 2 ? "neither \(named[0]) nor \(named[1])" : "none of \(named.asSentenceList)"
            let orNone = alternatives.contains(Self.none) ? ", or none of them" : ""
            throw Flaw(
                message: "\(place) has \(given == 0 ? none : "\(extra.asSentenceList), which cannot be combined")",
                hint: "give just one of \(named.asSentenceList)\(orNone)")
        }
    }
}

/// A compiled JSON Schema pattern.
private struct TextPattern {
    /// Nil for an invalid pattern, which matches nothing.
    private let regex: Regex<AnyRegexOutput>?

    init(_ pattern: String) { regex = try? Regex(pattern).matchingSemantics(.unicodeScalar) }

    func fits(_ text: String) -> Bool { regex.map { text.wholeMatch(of: $0) != nil } ?? false }
}

extension [String] {
    fileprivate var listed: String { joined(separator: ", ") }

    /// The list as `a, b and c`.
    fileprivate var asSentenceList: String {
        count < 2 ? listed : "\(dropLast().joined(separator: ", ")) and \(self[count - 1])"
    }
}

extension JSON {
    /// An object without the members that are nil.
    static func members(_ pairs: KeyValuePairs<String, JSON?>) -> JSON {
        .object(JSONObject(pairs.compactMap { name, value in value.map { (name, $0) } }))
    }

    static func count(_ number: Int) -> JSON { .integer(Int64(number)) }

    static func timestamp(_ time: Timestamp) -> JSON { .string(time.description) }
}

// Schemas that several routes use.
extension JSONSchema {
    /// Lists connector punctuation explicitly, because not every regex engine knows that class.
    static let tagCharacters = #"\p{L}\p{M}\p{Nd}_‿⁀⁔︳︴﹍﹎﹏＿@#.:\-"#

    static let hubName = text(
        "Letters, digits and - . _, with slashes between parts that begin with a letter or digit; names such as messages "
            + "and api are reserved",
        length: 1...260, pattern: #"[A-Za-z0-9][A-Za-z0-9._\-]*(?:/[A-Za-z0-9][A-Za-z0-9._\-]*)*"#)
    static let ruleName = text("Letters, digits and - . _", length: 1...256, pattern: #"[A-Za-z0-9._\-]+"#)
    static let user = text(
        "A user id: letters, digits and _ - @ # . : =", length: 1...108, pattern: "[\(tagCharacters)=]+")
    static let tag = text(
        "A tag: letters, digits and _ - @ # . :, or $InstallationId:{…} or $UserId:{…}", length: 1...120,
        pattern: #"[\#(tagCharacters)]+|\$(?:InstallationId|UserId):\{[\#(tagCharacters)=]+\}"#)
    static let platform = choice("A push service", Platform.allCases.map(\.shortName))
    static let outcome = choice("The result of a delivery, in the terms of Azure's telemetry", OutcomeName.allCases.map(\.rawValue))
    static let right = choice("Manage includes the others", AuthorizationRule.Right.allCases.map(\.rawValue))

    static func timestamp(_ note: String? = nil) -> JSONSchema { text(note, format: "date-time") }

    /// A page of a list.
    static func page(of item: JSONSchema) -> JSONSchema {
        object(
            item.name.map { "\($0)Page" },
            [
                "items": list(of: item), "continuation?": text("Token for the next page; absent on the last page"),
            ])
    }
}

import Lua
package import PushModel

/// The schema of a plugin's configuration: `config` of its manifest.
package struct ConfigSchema: Sendable, Equatable {
    package var fields: [Field] = []

    package struct Field: Sendable, Equatable {
        package var name: String
        package var type: FieldType
        /// The value if none is configured.
        package var defaultValue: JSON?
        package var isRequired: Bool
        package var summary: String

        package init(name: String, type: FieldType, defaultValue: JSON?, isRequired: Bool, summary: String) {
            self.name = name
            self.type = type
            self.defaultValue = defaultValue
            self.isRequired = isRequired
            self.summary = summary
        }
    }

    package indirect enum FieldType: Sendable, Equatable {
        case string(choices: [String])
        case integer(Bounds)
        case number(Bounds)
        case boolean
        /// A duration as in flows; the script receives seconds.
        case duration
        /// A time of day such as 07:00 or 22:30, as for `push.clock.window_end`.
        case timeOfDay
        /// An IANA time zone name.
        case timeZone
        case tag
        /// The name of a secret; the script receives the secret itself.
        case secret
        case list(FieldType)
        /// A table with any keys and values of one type.
        case map(FieldType)
        case table(ConfigSchema)
    }

    package struct Bounds: Sendable, Equatable {
        var minimum: Double?
        var maximum: Double?

        package init(minimum: Double?, maximum: Double?) { (self.minimum, self.maximum) = (minimum, maximum) }
    }

    package init() {}
}

// MARK: - Reading the schema

extension ConfigSchema {
    private static let typeNames = [
        "string", "integer", "number", "boolean", "duration", "time_of_day", "time_zone", "tag", "secret", "list", "map", "table",
    ]
    private static let keys = ["type", "default", "required", "desc", "min", "max", "choices", "of", "fields"]

    /// Reads a schema. Throws `plugin.manifest`.
    init(_ table: ManifestTable) throws(LuaError) {
        for name in table.fields.keys.sorted() {
            guard name.first?.isLetter == true, name.utf8.allSatisfy(\.isPropertyCharacter) else {
                throw table.refusal(name, "is not a valid name", hint: "use letters, digits and _, beginning with a letter")
            }
            guard let field = try table.table(name, keys: Self.keys) else { continue }
            fields.append(try Self.field(name, field))
        }
    }

    private static func field(_ name: String, _ table: ManifestTable) throws(LuaError) -> Field {
        let type = try type(of: table)
        var field = Field(
            name: name, type: type, defaultValue: nil, isRequired: try table.boolean("required") ?? false,
            summary: try table.text("desc") ?? "")
        if let given = table.fields["default"] {
            guard !field.isRequired else {
                throw table.refusal("default", "is not allowed with required", hint: "remove one of them")
            }
            if type.holdsSecret {
                throw table.refusal("default", "is not allowed for secrets", hint: "the operator names the secret in the configuration")
            }
            // Lua does not distinguish an empty list from an empty table.
            let json = given.json.map { json in
                if case .list = type, case .object(let object) = json, object.isEmpty { JSON.array([]) } else { json }
            }
            guard let json else { throw table.refusal("default", "cannot be represented in a configuration: \(given.phrase)") }
            do throws(InvalidValue) { _ = try type.value(of: json, at: table.keyPath("default"), secrets: { _ in .nil }, zones: nil) } catch
            {
                throw table.refusal("default", "is invalid: it \(error.reason)")
            }
            field.defaultValue = json
        }
        return field
    }

    private static func type(of table: ManifestTable) throws(LuaError) -> FieldType {
        let name = try table.text("type") ?? "string"
        guard typeNames.contains(name) else {
            throw table.refusal(
                "type", "must be one of \(typeNames.joined(separator: ", ")), got \"\(name)\"",
                hint: nearest(name, in: typeNames).map { "did you mean \"\($0)\"?" })
        }
        for (key, types) in [
            ("min", ["integer", "number"]), ("max", ["integer", "number"]), ("choices", ["string"]), ("of", ["list", "map"]),
            ("fields", ["table"]),
        ] where table.fields[key] != nil && !types.contains(name) {
            throw table.refusal(key, "is not allowed for the type \(name)", hint: "it is allowed for \(types.joined(separator: " and "))")
        }
        let bounds = Bounds(minimum: try table.number("min"), maximum: try table.number("max"))
        if let minimum = bounds.minimum, let maximum = bounds.maximum, minimum > maximum {
            throw table.refusal(
                "min", "is \(table.fields["min"]?.phrase ?? ""), which is more than max, \(table.fields["max"]?.phrase ?? "")")
        }
        switch name {
        case "integer": return .integer(bounds)
        case "number": return .number(bounds)
        case "boolean": return .boolean
        case "duration": return .duration
        case "time_of_day": return .timeOfDay
        case "time_zone": return .timeZone
        case "tag": return .tag
        case "secret": return .secret
        case "list", "map":
            let element: FieldType
            if let nested = table.fields["of"], case .table = nested, let of = try table.table("of", keys: keys) {
                element = try type(of: of)
            } else {
                guard let of = try table.text("of", "the name of a type, or a table that describes it") else {
                    throw table.refusal("of", "is missing: it is the type of the \(name)'s elements", hint: "write of = \"string\"")
                }
                element = try type(
                    of: ManifestTable(
                        .table(LuaTable(fields: ["type": .string(of)])), file: table.file, path: table.keyPath("of"), keys: keys))
            }
            return name == "list" ? .list(element) : .map(element)
        case "table":
            guard let fields = try table.table("fields", keys: nil) else {
                throw table.refusal("fields", "is missing: it describes the table's fields")
            }
            return .table(try ConfigSchema(fields))
        default: return .string(choices: try table.texts("choices"))
        }
    }
}

// MARK: - Reading values

extension ConfigSchema {
    /// An invalid value in a configuration.
    struct InvalidValue: Error {
        /// Path of the value: `config.limits.per_day`.
        var path: String
        var reason: String
        var hint: String?
    }

    /// The values for the script, with defaults filled in.
    ///
    /// - Parameters:
    ///   - secrets: Returns the secret with a name; nil if there is none.
    ///   - zones: Used to check time zone names; nil skips the check.
    func values(
        of json: JSON, at path: String, secrets: (String) -> LuaValue?, zones: (any TimeZoneSource)? = nil
    ) throws(InvalidValue) -> LuaValue {
        var given: [String: JSON] = [:]
        switch json {
        case .null: break
        case .object(let object): for (key, value) in object.members { given[key] = value }
        default: throw InvalidValue(path: path, reason: "must be a table with names, got \(json.kindPhrase)")
        }
        for key in given.keys.sorted() where !fields.contains(where: { $0.name == key }) {
            let names = fields.map(\.name)
            throw InvalidValue(
                path: "\(path).\(key)",
                reason: "is not a setting of the plugin\(nearest(key, in: names).map { "; did you mean \"\($0)\"?" } ?? "")",
                hint: names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))")
        }
        var values: [String: LuaValue] = [:]
        for field in fields {
            guard let value = given[field.name], value != .null else { continue }
            values[field.name] = try field.type.value(of: value, at: "\(path).\(field.name)", secrets: secrets, zones: zones)
        }
        for field in fields where values[field.name] == nil {
            let fieldPath = "\(path).\(field.name)"
            if let value = field.defaultValue {
                values[field.name] = try field.type.value(of: value, at: fieldPath, secrets: secrets, zones: zones)
            } else if field.isRequired {
                throw InvalidValue(path: fieldPath, reason: "is missing", hint: field.summary.isEmpty ? nil : field.summary)
            } else if case .table(let schema) = field.type {
                values[field.name] = try schema.values(of: .null, at: fieldPath, secrets: secrets, zones: zones)
            }
        }
        return .table(LuaTable(fields: values))
    }
}

extension ConfigSchema.FieldType {
    fileprivate func value(
        of json: JSON, at path: String, secrets: (String) -> LuaValue?, zones: (any TimeZoneSource)?
    ) throws(ConfigSchema.InvalidValue) -> LuaValue {
        func mismatch(_ wanted: String) -> ConfigSchema.InvalidValue {
            ConfigSchema.InvalidValue(path: path, reason: "must be \(wanted), got \(json.kindPhrase)")
        }
        switch self {
        case .string(let choices):
            guard case .string(let text) = json else { throw mismatch("a string") }
            guard choices.isEmpty || choices.contains(text) else {
                throw ConfigSchema.InvalidValue(
                    path: path, reason: "must be one of \(choices.joined(separator: ", ")), got \"\(text)\"",
                    hint: nearest(text, in: choices).map { "did you mean \"\($0)\"?" })
            }
            return .string(text)
        case .integer(let bounds):
            guard case .integer(let number) = json else { throw mismatch("a whole number") }
            try bounds.check(Double(number), json, path)
            return .integer(number)
        case .number(let bounds):
            switch json {
            case .integer(let number):
                try bounds.check(Double(number), json, path)
                return .integer(number)
            case .number(let number):
                try bounds.check(number, json, path)
                return .number(number)
            default: throw mismatch("a number")
            }
        case .boolean:
            guard case .bool(let flag) = json else { throw mismatch("true or false") }
            return .boolean(flag)
        case .duration:
            let value = LuaValue(json)
            guard let duration = try? Duration(argument: value, named: "", of: "") else { throw mismatch("a duration such as 90s or 1h") }
            return .number(Double(duration.milliseconds) / 1000)
        case .timeOfDay:
            guard case .string(let text) = json, text.wholeMatch(of: /(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00/) != nil else {
                throw mismatch("a time of the day such as 07:00")
            }
            return .string(text)
        case .timeZone:
            guard case .string(let name) = json else { throw mismatch("a time zone such as Europe/Lisbon") }
            do throws(PushError) { _ = try zones?.rules(of: name) } catch {
                throw ConfigSchema.InvalidValue(path: path, reason: "is invalid: \(error.message)", hint: error.hint)
            }
            return .string(name)
        case .tag:
            guard case .string(let text) = json, Tag(validating: text) != nil else { throw mismatch("a tag") }
            return .string(text)
        case .secret:
            guard case .string(let name) = json else { throw mismatch("the name of a secret") }
            guard let secret = secrets(name) else {
                throw ConfigSchema.InvalidValue(
                    path: path, reason: "names the secret \"\(name)\", which does not exist",
                    hint: "set PUSHHOST_SECRET_\(name.uppercased()), or add it to the project's secrets file")
            }
            return secret
        case .list(let element):
            guard case .array(let items) = json else { throw mismatch("a list") }
            var values: [LuaValue] = []
            for (index, item) in items.enumerated() {
                values.append(try element.value(of: item, at: "\(path)[\(index + 1)]", secrets: secrets, zones: zones))
            }
            return .table(LuaTable(array: values))
        case .map(let element):
            guard case .object(let object) = json else { throw mismatch("a table with names") }
            var values: [String: LuaValue] = [:]
            for (key, value) in object.members {
                values[key] = try element.value(of: value, at: "\(path).\(key)", secrets: secrets, zones: zones)
            }
            return .table(LuaTable(fields: values))
        case .table(let schema): return try schema.values(of: json, at: path, secrets: secrets, zones: zones)
        }
    }
}

extension ConfigSchema.Bounds {
    fileprivate func check(_ number: Double, _ json: JSON, _ path: String) throws(ConfigSchema.InvalidValue) {
        if let minimum, number < minimum {
            throw ConfigSchema.InvalidValue(path: path, reason: "must be at least \(minimum.short), got \(json.serializedText)")
        }
        if let maximum, number > maximum {
            throw ConfigSchema.InvalidValue(path: path, reason: "must be at most \(maximum.short), got \(json.serializedText)")
        }
    }
}

extension JSON {
    /// The kind of value, or the value itself if it is short.
    fileprivate var kindPhrase: String {
        switch self {
        case .null: "nothing"
        case .bool, .integer, .number, .numeral: serializedText
        case .string(let text): text.count <= 40 ? "\"\(text)\"" : "a long string"
        case .array: "a list"
        case .object: "a table"
        }
    }

    fileprivate var serializedText: String { String(decoding: serialized(), as: UTF8.self) }
}

extension ConfigSchema.FieldType {
    /// Whether the type is a secret or contains one.
    fileprivate var holdsSecret: Bool {
        switch self {
        case .secret: true
        case .list(let element), .map(let element): element.holdsSecret
        case .table(let schema): schema.fields.contains { $0.type.holdsSecret }
        default: false
        }
    }
}

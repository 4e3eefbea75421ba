package import Lua
package import PushModel
import Synchronization

/// The value of `push.json.null`. It represents JSON's null where Lua's nil would mean "absent".
struct JSONNull: Sendable {
    /// One value for all scripts, so that they can compare it.
    static let value = LuaValue.object(LuaObject(type: "null", payload: JSONNull()))
}

/// A number of which a Lua number would lose digits, such as an integer beyond 64 bits.
struct JSONNumeral: Sendable {
    let text: String

    private struct Entry {
        weak var object: LuaObject?
    }

    private static let objects = Mutex<(entries: [String: Entry], limit: Int)>(([:], 64))

    /// Returns the same object for the same digits while it is referenced, so that scripts can compare numerals.
    static func object(_ text: String) -> LuaObject {
        objects.withLock { table in
            if let object = table.entries[text]?.object { return object }
            if table.entries.count >= table.limit {
                table.entries = table.entries.filter { $0.value.object != nil }
                table.limit = max(64, 2 * table.entries.count)
            }
            let object = LuaObject(type: "numeral", payload: JSONNumeral(text: text))
            table.entries[text] = Entry(object: object)
            return object
        }
    }
}

extension LuaValue {
    /// Converts JSON for scripts. Arrays are marked as lists, and null becomes `push.json.null`.
    init(_ json: JSON) {
        switch json {
        case .null: self = JSONNull.value
        case .bool(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .numeral(let text): self = Self.number(text)
        case .string(let text): self = .string(text)
        case .array(let items): self = .table(LuaTable(array: items.map(LuaValue.init), isList: true))
        case .object(let object):
            self = .table(
                LuaTable(
                    fields: Dictionary(
                        object.members.map { ($0.key, LuaValue($0.value)) }, uniquingKeysWith: { $1 })))
        }
    }

    private static func number(_ text: String) -> LuaValue {
        if let number = Int64(text) { return .integer(number) }
        if case .number(let number)? = try? JSON(parsing: text) { return .number(number) }
        return .object(JSONNumeral.object(text))
    }

    /// Parses a body as JSON; nil if it is not JSON.
    init(body: [UInt8]) {
        self = (try? JSON(parsing: body)).map { LuaValue($0) } ?? .nil
    }

    /// The value as JSON; nil if it cannot be converted.
    package var json: JSON? { try? json(named: "") }

    /// Converts the value to JSON with members in alphabetical order.
    ///
    /// - Parameter name: The name of the value in errors.
    package func json(named name: String) throws(JSONConversionError) -> JSON {
        var conversion = JSONConversion(name: name)
        return try conversion.json(of: self)
    }
}

/// The reason why a script value cannot be converted to JSON.
package struct JSONConversionError: Error, Sendable, Equatable {
    /// Path of the invalid part: `payload.aps.badge`.
    package let path: String
    /// The problem, as the end of a sentence.
    package let reason: String
    package let hint: String

    package var message: String { "\(path) \(reason)" }

    /// The error as raised by a function.
    func error(in function: String, code: String = "json.unsupported", details: [String: LuaValue] = [:]) -> LuaError {
        .failure(code, "\(function): \(message)", hint: hint, details: details)
    }
}

/// Converts a value to JSON and tracks the path to the current part.
private struct JSONConversion {
    private let name: String
    private var steps: [String] = []

    init(name: String) { self.name = name }

    mutating func json(of value: LuaValue) throws(JSONConversionError) -> JSON {
        switch value {
        case .nil: return .null
        case .boolean(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .number(let number):
            guard number.isFinite else {
                throw fault(
                    "is \(number.isNaN ? "NaN" : "infinite"), which JSON cannot represent", "leave it out, or write push.json.null")
            }
            return .number(number)
        case .string(let text): return .string(text)
        case .bytes: throw fault("is text that is not UTF-8", "write the text as UTF-8")
        case .function: throw fault("is a function", "leave it out, or call it to use its result")
        case .object(let object):
            if object.payload is JSONNull { return .null }
            if let numeral = object.payload as? JSONNumeral { return .numeral(numeral.text) }
            throw fault("is a \(object.type)", "use one of its fields, such as its name")
        case .table(let table): return try json(of: table)
        }
    }

    private mutating func json(of table: LuaTable) throws(JSONConversionError) -> JSON {
        // A list may carry its length, as `table.pack` and `push.all` return it.
        let isCounted = table.fields.count == 1 && table.fields["n"] == .integer(Int64(table.array.count))
        if table.fields.isEmpty || isCounted, table.isList || !table.array.isEmpty {
            var items: [JSON] = []
            items.reserveCapacity(table.array.count)
            for (index, item) in table.array.enumerated() {
                steps.append("[\(index + 1)]")
                items.append(try json(of: item))
                steps.removeLast()
            }
            return .array(items)
        }
        if let key = table.fields.keys.min(), table.isList || !table.array.isEmpty {
            throw fault(
                "is a list and has the name \"\(key)\", which JSON cannot write both",
                "write a list, or a table with names alone: items = { … } gives the list a name")
        }
        var object = JSONObject()
        for (key, value) in table.fields.sorted(by: { $0.key < $1.key }) {
            steps.append(Self.isPlain(key) ? ".\(key)" : "[\"\(key)\"]")
            object[key] = try json(of: value)
            steps.removeLast()
        }
        return .object(object)
    }

    private func fault(_ reason: String, _ hint: String) -> JSONConversionError {
        JSONConversionError(path: name + steps.joined(), reason: reason, hint: hint)
    }

    private static func isPlain(_ key: String) -> Bool {
        !key.isEmpty && key.utf8.allSatisfy(\.isPropertyCharacter) && key.utf8.first.map { $0 > UInt8(ascii: "9") } == true
    }
}

import PushModel

/// The reason why a stored value cannot be read. `reading(_:details:_:)` adds the name of the row.
struct UnreadableValue: Error {
    let reason: String
}

/// Reads a row. Errors become `storage.corrupt` with the name of the row.
///
/// - Parameter details: machine-readable identification of the row.
func reading<Value>(
    _ row: @autoclosure () -> String, details: @autoclosure () -> [String: JSON] = [:], _ body: () throws -> Value
) throws -> Value {
    do {
        return try body()
    } catch let error as UnreadableValue {
        throw StorageError.corrupt(row(), error.reason, details: details())
    } catch let error as JSONError {
        throw StorageError.corrupt(row(), "its JSON is broken, \(error.description.asClause)", details: details())
    } catch let error as PushError where !error.code.hasPrefix("storage.") {
        throw StorageError.corrupt(row(), error.message, details: details())
    }
}

extension RawRepresentable where RawValue == String {
    init(stored text: String) throws {
        guard let value = Self(rawValue: text) else { throw UnreadableValue(reason: "unknown \(Self.self) \"\(text)\"") }
        self = value
    }
}

extension Tag {
    init(stored text: String) throws {
        guard let tag = Tag(validating: text) else { throw UnreadableValue(reason: "invalid tag \"\(text)\"") }
        self = tag
    }
}

extension RegistrationID {
    init(stored text: String) throws {
        guard let id = RegistrationID(text) else { throw UnreadableValue(reason: "invalid registration id \"\(text)\"") }
        self = id
    }
}

extension Principal {
    init(stored text: String) throws {
        guard let principal = Principal(text) else { throw UnreadableValue(reason: "unknown principal \"\(text)\"") }
        self = principal
    }
}

extension JSON {
    /// The member with this key. Throws if it is missing.
    func required(_ key: String) throws -> JSON {
        guard let value = self[key] else { throw UnreadableValue(reason: "\(key) is missing") }
        return value
    }

    func storedText() throws -> String {
        guard let string else { throw UnreadableValue(reason: "a text is missing") }
        return string
    }

    func storedInteger() throws -> Int64 {
        guard case .integer(let value) = self else { throw UnreadableValue(reason: "an integer is missing") }
        return value
    }

    func storedArray() throws -> [JSON] {
        guard let array else { throw UnreadableValue(reason: "an array is missing") }
        return array
    }

    func storedObject() throws -> JSONObject {
        guard let object else { throw UnreadableValue(reason: "an object is missing") }
        return object
    }

    /// A pair of texts stored as an array.
    func storedPair() throws -> (String, String) {
        guard let array, array.count == 2 else { throw UnreadableValue(reason: "a pair of texts is missing") }
        return (try array[0].storedText(), try array[1].storedText())
    }

    init(_ texts: [String: String]) {
        self = .object(JSONObject(texts.map { ($0.key, .string($0.value)) }))
    }

    /// A dictionary of texts stored as an object.
    func storedTexts() throws -> [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in try storedObject().members { texts[key] = try value.storedText() }
        return texts
    }

    init(_ headers: [PushHeader]) {
        self = .array(headers.map { [.string($0.name), .string($0.value)] })
    }

    func storedHeaders() throws -> [PushHeader] {
        try storedArray().map { header in
            let (name, value) = try header.storedPair()
            return PushHeader(name, value)
        }
    }

    init(_ tags: [Tag]) {
        self = .array(tags.map { .string($0.text) })
    }

    func storedTags() throws -> [Tag] { try storedArray().map { try Tag(stored: $0.storedText()) } }
}

import HTTPTypes

/// The header fields of the request before, by their places: clients say much the same each time, and what is the same need not
/// be made again.
struct HTTP2FieldCache {
    private struct Entry {
        var name: [UInt8]
        var value: [UInt8]
        var field: HTTPField
    }

    private var entries: [Entry] = []
    /// As many fields as a client is likely to send.
    private static let capacity = 32

    /// The field of these bytes, which came at `place` (from 0); nil for a name that HTTP does not allow.
    mutating func field(
        at place: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
    ) -> HTTPField? {
        if place < entries.count, entries[place].name.elementsEqual(name) {
            if entries[place].value.elementsEqual(value) { return entries[place].field }
            let field = HTTPField(name: entries[place].field.name, value: String(decoding: value, as: UTF8.self))
            entries[place].value = Array(value)
            entries[place].field = field
            return field
        }
        guard let fieldName = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { return nil }
        let field = HTTPField(name: fieldName, value: String(decoding: value, as: UTF8.self))
        let entry = Entry(name: Array(name), value: Array(value), field: field)
        if place < entries.count {
            entries[place] = entry
        } else if place == entries.count, place < Self.capacity {
            entries.append(entry)
        }
        return field
    }
}

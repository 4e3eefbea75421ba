import HTTPTypes

/// Caches the header fields of the previous request by position. Clients repeat most fields, which then need not be created again.
struct HTTP2FieldCache {
    private struct Entry {
        var name: [UInt8]
        var value: [UInt8]
        var field: HTTPField
    }

    private var entries: [Entry] = []
    /// More fields than clients usually send.
    private static let capacity = 32

    /// Returns the field at `index` (from 0) with these bytes; `nil` for an invalid name.
    mutating func field(
        at index: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
    ) -> HTTPField? {
        if index < entries.count, entries[index].name.elementsEqual(name) {
            if entries[index].value.elementsEqual(value) { return entries[index].field }
            let field = HTTPField(name: entries[index].field.name, value: String(decoding: value, as: UTF8.self))
            entries[index].value = Array(value)
            entries[index].field = field
            return field
        }
        guard let fieldName = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { return nil }
        let field = HTTPField(name: fieldName, value: String(decoding: value, as: UTF8.self))
        let entry = Entry(name: Array(name), value: Array(value), field: field)
        if index < entries.count {
            entries[index] = entry
        } else if index == entries.count, index < Self.capacity {
            entries.append(entry)
        }
        return field
    }
}

import Lua

extension LuaValue {
    /// Bytes of all texts, plus 8 for each other value.
    var byteCount: Int {
        switch self {
        case .nil, .boolean, .integer, .number, .function, .object: 8
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .table(let table):
            table.array.reduce(0) { $0 + $1.byteCount } + table.fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.byteCount }
        }
    }

    /// Bytes of a table's entry besides texts.
    private static let tableEntry = 64

    /// Memory in bytes that the value uses while a call is in progress, with the copies that are made from it.
    var workingMemory: Int {
        switch self {
        case .nil, .boolean, .integer, .number, .function, .object: 0
        case .string(let text): 2 * text.utf8.count
        case .bytes(let bytes): 2 * bytes.count
        case .table(let table):
            table.array.reduce(Self.tableEntry) { $0 + Self.tableEntry + $1.workingMemory }
                + table.fields.reduce(0) { $0 + 2 * (Self.tableEntry + $1.key.utf8.count) + $1.value.workingMemory }
        }
    }

    /// Number of texts in a table and the tables inside it; 0 for other values.
    var innerTextCount: Int {
        guard case .table(let table) = self else { return 0 }
        func count(_ value: LuaValue) -> Int {
            switch value {
            case .string, .bytes: 1
            default: value.innerTextCount
            }
        }
        return table.array.reduce(0) { $0 + count($1) } + table.fields.values.reduce(0) { $0 + count($1) }
    }
}

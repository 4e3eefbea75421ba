import Lua

// The arguments and results of the typed host functions, with strings and with borrowed bytes.

struct Order: LuaReadableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("topic", .text), ("priority", .integer), ("urgent", .boolean),
    ]
    var topic: String
    var priority: Int
    var urgent: Bool

    init(members: inout LuaReader) throws {
        topic = try members.read()
        priority = try members.read()
        urgent = try members.read()
    }
}

struct Receipt: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("id", .text), ("seq", .integer), ("ok", .boolean)]
    var id: String
    var seq: Int
    var ok: Bool

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(id)
        writer.write(seq)
        writer.write(ok)
    }
}

struct BorrowedOrder: LuaReadableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("topic", .bytes), ("priority", .integer), ("urgent", .boolean),
    ]
    var topic: LuaBorrowedBytes
    var priority: Int
    var urgent: Bool

    init(members: inout LuaReader) throws {
        topic = try members.read()
        priority = try members.read()
        urgent = try members.read()
    }
}

struct BorrowedReceipt: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("id", .bytes), ("seq", .integer), ("ok", .boolean)]
    var id: LuaBorrowedBytes
    var seq: Int
    var ok: Bool

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(id)
        writer.write(seq)
        writer.write(ok)
    }
}

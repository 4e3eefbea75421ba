import Lua

/// The record of the benchmark with texts that become Swift's.
private struct Order: LuaReadableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("topic", .text), ("priority", .integer), ("urgent", .boolean)]
    let topic: String
    let priority: Int
    let isUrgent: Bool

    init(members: inout LuaReader) throws {
        topic = try members.read()
        priority = try members.read()
        isUrgent = try members.read()
    }
}

private struct Receipt: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("id", .text), ("seq", .integer), ("ok", .boolean)]
    let id: String
    let sequence: Int
    let isAccepted: Bool

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(id)
        writer.write(sequence)
        writer.write(isAccepted)
    }
}

/// The same with texts that stay Lua's.
private struct BorrowedOrder: LuaReadableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("topic", .bytes), ("priority", .integer), ("urgent", .boolean)]
    let topic: LuaBorrowedBytes
    let priority: Int
    let isUrgent: Bool

    init(members: inout LuaReader) throws {
        topic = try members.read()
        priority = try members.read()
        isUrgent = try members.read()
    }
}

private struct BorrowedReceipt: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("id", .bytes), ("seq", .integer), ("ok", .boolean)]
    let id: LuaBorrowedBytes
    let sequence: Int
    let isAccepted: Bool

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(id)
        writer.write(sequence)
        writer.write(isAccepted)
    }
}

extension Host {
    static var typedFunctions: [LuaFunction] {
        [
            LuaFunction("host.successor_texts") { (number: Int) in number + 1 },
            LuaFunction("host.record_texts") { (name: String, order: Order) in
                Receipt(id: order.topic, sequence: order.priority + name.utf8.count, isAccepted: order.isUrgent)
            },
            LuaFunction("host.successor_bytes") { (number: Int) in number + 1 },
            LuaFunction("host.record_bytes") { (name: LuaBorrowedBytes, order: BorrowedOrder) in
                BorrowedReceipt(id: order.topic, sequence: order.priority + name.count, isAccepted: order.isUrgent)
            },
        ]
    }
}

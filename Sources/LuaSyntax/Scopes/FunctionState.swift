/// What Lua's compiler keeps of a function while it reads it: active locals, blocks with their labels, upvalues.
struct FunctionState {
    /// Limits of Lua 5.4: MAXVARS, MAXUPVAL, and the registers that an instruction can name.
    static let maximumLocals = 200
    static let maximumUpvalues = 255
    static let maximumRegisters = 254

    let isVariadic: Bool
    /// The active locals, as indices of variables; nil for the hidden ones of a loop.
    var locals: [Int?] = []
    /// How many of them are kept in registers.
    var registers = 0
    /// Variables of outer functions that it uses; -1 is the table of globals.
    var upvalues: Set<Int> = []
    var blocks: [BlockState] = []

    struct BlockState {
        let isLoop: Bool
        /// Active locals and registers at its beginning.
        let locals: Int
        let registers: Int
        var labels: [String: Label] = [:]
        var jumps: [Jump] = []
    }

    struct Label {
        let range: Range<Int>
        let locals: Int
    }

    /// A `goto` forward, or a `break`.
    struct Jump {
        /// Nil for `break`.
        let name: String?
        let range: Range<Int>
        /// How many locals are active at the outermost block that it has left so far.
        var locals: Int
    }

    mutating func enterBlock(isLoop: Bool) {
        blocks.append(BlockState(isLoop: isLoop, locals: locals.count, registers: registers))
    }

    /// Answers the jump that leads nowhere, at the end of the function.
    mutating func leaveBlock() -> Jump? {
        guard let block = blocks.popLast() else { return nil }
        registers = block.registers
        locals.removeLast(locals.count - block.locals)
        var jumps = block.jumps
        if block.isLoop { jumps.removeAll { $0.name == nil } }
        for place in jumps.indices { jumps[place].locals = block.locals }
        guard let outer = blocks.indices.last else { return jumps.first }
        blocks[outer].jumps += jumps
        return nil
    }

    func label(named name: String) -> Label? {
        for block in blocks.reversed() {
            if let label = block.labels[name] { return label }
        }
        return nil
    }
}

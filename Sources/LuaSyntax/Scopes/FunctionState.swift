/// The state of a function that is being compiled: active locals, blocks with their labels, upvalues.
struct FunctionState {
    /// Limits of Lua 5.4: MAXVARS, MAXUPVAL, and the number of registers that an instruction can address.
    static let maximumLocals = 200
    static let maximumUpvalues = 255
    static let maximumRegisters = 254

    let isVariadic: Bool
    /// The active locals as indices of variables; nil for the hidden control variables of a loop.
    var locals: [Int?] = []
    /// Number of active locals that occupy registers.
    var registers = 0
    /// Indices of variables of outer functions that this function uses; -1 is the table of globals.
    var upvalues: Set<Int> = []
    var blocks: [BlockState] = []

    struct BlockState {
        let isLoop: Bool
        /// Number of active locals and registers when the block begins.
        let locals: Int
        let registers: Int
        var labels: [String: Label] = [:]
        var jumps: [Jump] = []
    }

    struct Label {
        let range: Range<Int>
        let locals: Int
    }

    /// A `goto` to a later label, or a `break`.
    struct Jump {
        /// The label; nil for `break`.
        let name: String?
        let range: Range<Int>
        /// Number of active locals in the outermost block that the jump has left so far.
        var locals: Int
    }

    mutating func enterBlock(isLoop: Bool) {
        blocks.append(BlockState(isLoop: isLoop, locals: locals.count, registers: registers))
    }

    /// Closes the block. At the end of the function it returns a jump whose label does not exist.
    mutating func leaveBlock() -> Jump? {
        guard let block = blocks.popLast() else { return nil }
        registers = block.registers
        locals.removeLast(locals.count - block.locals)
        var jumps = block.jumps
        if block.isLoop { jumps.removeAll { $0.name == nil } }
        for index in jumps.indices { jumps[index].locals = block.locals }
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

import PushModel

/// A value per row, in blocks of 65,536 rows that use no memory until they are written to.
struct RowColumn<Value: Sendable>: Sendable {
    /// The value of rows that were never written.
    let vacant: Value
    private var blocks: [[Value]] = []

    init(vacant: Value) { self.vacant = vacant }

    subscript(row: UInt32) -> Value {
        get {
            let (block, index) = (Int(row >> 16), Int(row & 0xFFFF))
            guard block < blocks.count, index < blocks[block].count else { return vacant }
            return blocks[block][index]
        }
        set {
            let (block, index) = (Int(row >> 16), Int(row & 0xFFFF))
            reach(block, index)
            blocks[block][index] = newValue
        }
    }

    /// Resets a row, without allocating memory.
    mutating func clear(_ row: UInt32) {
        let (block, index) = (Int(row >> 16), Int(row & 0xFFFF))
        guard block < blocks.count, index < blocks[block].count else { return }
        blocks[block][index] = vacant
    }

    /// Doubles a block up to its full size, with exactly that capacity: an array's usual growth would reserve as much again.
    private mutating func reach(_ block: Int, _ index: Int) {
        while blocks.count <= block { blocks.append([]) }
        guard blocks[block].count <= index else { return }
        var size = max(16, blocks[block].count * 2)
        while size <= index { size *= 2 }
        size = min(size, 1 << 16)
        blocks[block].reserveCapacity(size)
        blocks[block].append(contentsOf: repeatElement(vacant, count: size - blocks[block].count))
    }
}

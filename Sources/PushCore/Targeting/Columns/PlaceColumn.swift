/// A value for each place, in blocks of 65,536 places that take no room before something is written to them.
struct PlaceColumn<Value: Sendable>: Sendable {
    /// What stands at places that nothing was written to.
    let vacant: Value
    private var blocks: [[Value]] = []

    init(vacant: Value) { self.vacant = vacant }

    subscript(place: UInt32) -> Value {
        get {
            let (block, index) = (Int(place >> 16), Int(place & 0xFFFF))
            guard block < blocks.count, index < blocks[block].count else { return vacant }
            return blocks[block][index]
        }
        set {
            let (block, index) = (Int(place >> 16), Int(place & 0xFFFF))
            reach(block, index)
            blocks[block][index] = newValue
        }
    }

    /// Forgets what stands at a place, where there is a room for it at all.
    mutating func clear(_ place: UInt32) {
        let (block, index) = (Int(place >> 16), Int(place & 0xFFFF))
        guard block < blocks.count, index < blocks[block].count else { return }
        blocks[block][index] = vacant
    }

    /// Doubles a block up to its whole size, and takes no more memory than that: what an array keeps in reserve would come to as
    /// much again.
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

import PushModel

/// A byte string per row: in a fixed-size cell if it has exactly that size, otherwise in an arena that 65,536 rows share.
struct ByteColumn: Sendable {
    private struct Block: Sendable {
        var cells: [UInt8] = []
        /// One bit per row; set if the row's cell holds the position of its bytes in the arena.
        var long: [UInt64] = []
        var arena: [UInt8] = []
        /// Number of unused bytes in the arena.
        var garbage = 0

        func isLong(_ index: Int) -> Bool {
            index >> 6 < long.count && long[index >> 6] & 1 << UInt64(index & 63) != 0
        }
    }

    /// Size of a cell in bytes, at least 8, so that it can hold an offset and a length in the arena.
    private let cell: Int
    private var blocks: [Block] = []

    init(cell: Int) { self.cell = cell }

    /// Whether the row's value is in its cell.
    func isInCell(_ row: UInt32) -> Bool { !blocks[Int(row >> 16)].isLong(Int(row & 0xFFFF)) }

    /// - Parameter body: receives the bytes of the row, which must be set.
    @inline(__always)
    func withBytes<Result>(at row: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let (number, index) = (Int(row >> 16), Int(row & 0xFFFF))
        if blocks[number].isLong(index) {
            let range = range(number, index)
            return blocks[number].arena.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
        let start = index * cell
        return blocks[number].cells.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + cell])) }
    }

    /// - Parameter isInCell: requires that the bytes have the size of a cell.
    mutating func set(_ bytes: UnsafeRawBufferPointer, at row: UInt32, isInCell: Bool) {
        let (number, index) = (Int(row >> 16), Int(row & 0xFFFF))
        reach(number, index)
        if blocks[number].isLong(index) {
            let old = range(number, index)
            if !isInCell, bytes.count <= old.count {
                blocks[number].garbage += old.count - bytes.count
                blocks[number].arena.withUnsafeMutableBytes { arena in
                    UnsafeMutableRawBufferPointer(rebasing: arena[old.lowerBound..<old.lowerBound + bytes.count]).copyMemory(from: bytes)
                }
                return point(number, index, at: old.lowerBound, count: bytes.count)
            }
            clear(row)
        }
        guard !isInCell else {
            let start = index * cell
            return blocks[number].cells.withUnsafeMutableBytes { cells in
                UnsafeMutableRawBufferPointer(rebasing: cells[start..<start + cell]).copyMemory(from: bytes)
            }
        }
        let start = blocks[number].arena.count
        if start + bytes.count > blocks[number].arena.capacity {
            // Grow by a quarter; doubling would leave too much unused.
            blocks[number].arena.reserveCapacity(max(256, (start + bytes.count) * 5 / 4))
        }
        blocks[number].arena.append(contentsOf: bytes)
        if blocks[number].long.isEmpty { blocks[number].long = Array(repeating: 0, count: 1024) }
        blocks[number].long[index >> 6] |= 1 << UInt64(index & 63)
        point(number, index, at: start, count: bytes.count)
    }

    /// Frees the row's bytes in the arena. A cell keeps its bytes until it is overwritten.
    mutating func clear(_ row: UInt32) {
        let (number, index) = (Int(row >> 16), Int(row & 0xFFFF))
        guard number < blocks.count, blocks[number].isLong(index) else { return }
        blocks[number].garbage += range(number, index).count
        blocks[number].long[index >> 6] &= ~(1 << UInt64(index & 63))
        if blocks[number].garbage > 4096, blocks[number].garbage * 2 > blocks[number].arena.count { compact(number) }
    }

    private mutating func compact(_ number: Int) {
        var arena: [UInt8] = []
        arena.reserveCapacity((blocks[number].arena.count - blocks[number].garbage) * 5 / 4)
        for index in 0..<blocks[number].cells.count / cell where blocks[number].isLong(index) {
            let range = range(number, index)
            point(number, index, at: arena.count, count: range.count)
            arena += blocks[number].arena[range]
        }
        blocks[number].arena = arena
        blocks[number].garbage = 0
    }

    private func range(_ number: Int, _ index: Int) -> Range<Int> {
        blocks[number].cells.withUnsafeBytes { cells in
            let offset = cells.loadUnaligned(fromByteOffset: index * cell, as: UInt32.self)
            let count = cells.loadUnaligned(fromByteOffset: index * cell + 4, as: UInt32.self)
            return Int(offset)..<Int(offset) + Int(count)
        }
    }

    private mutating func point(_ number: Int, _ index: Int, at offset: Int, count: Int) {
        blocks[number].cells.withUnsafeMutableBytes { cells in
            cells.storeBytes(of: UInt32(truncatingIfNeeded: offset), toByteOffset: index * cell, as: UInt32.self)
            cells.storeBytes(of: UInt32(truncatingIfNeeded: count), toByteOffset: index * cell + 4, as: UInt32.self)
        }
    }

    private mutating func reach(_ number: Int, _ index: Int) {
        while blocks.count <= number { blocks.append(Block()) }
        guard blocks[number].cells.count <= index * cell else { return }
        var size = max(16, blocks[number].cells.count / cell * 2)
        while size <= index { size *= 2 }
        size = min(size, 1 << 16) * cell
        blocks[number].cells.reserveCapacity(size)
        blocks[number].cells.append(contentsOf: repeatElement(0, count: size - blocks[number].cells.count))
    }
}

/// The lines of a session, and what of them is still to be run: one text that errors can point into.
struct ReplLines {
    /// Everything that was typed, the lines that were no Lua among it.
    private(set) var all: [String] = []
    /// How many of the last lines belong to the chunk that is being typed.
    private var open = 0

    /// The lines of the chunk so far.
    var chunk: [String] { all.suffix(open) }

    /// The number of the chunk's first line, counted from 1.
    var first: Int { all.count - open + 1 }

    /// The number of the line that comes next.
    var next: Int { all.count + 1 }

    var isContinued: Bool { open > 0 }

    /// A line of a chunk.
    mutating func append(_ line: String) {
        all.append(line)
        open += 1
    }

    /// A line that is no part of a chunk, or one that ends it.
    mutating func skip(_ line: String) {
        all.append(line)
        open = 0
    }

    /// The chunk has been run, or given up.
    mutating func close() { open = 0 }

    var source: [UInt8] { Array(all.joined(separator: "\n").utf8) }
}

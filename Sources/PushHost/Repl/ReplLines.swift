/// The lines of a session as one source text, to which errors refer, and the chunk that is not complete yet.
struct ReplLines {
    /// All lines, including commands and blank lines.
    private(set) var all: [String] = []
    /// How many of the last lines belong to the incomplete chunk.
    private var open = 0

    /// The lines of the chunk so far.
    var chunk: [String] { all.suffix(open) }

    /// Line number of the chunk's first line, from 1.
    var first: Int { all.count - open + 1 }

    /// Line number of the next line.
    var next: Int { all.count + 1 }

    var isContinued: Bool { open > 0 }

    /// Adds a line to the chunk.
    mutating func append(_ line: String) {
        all.append(line)
        open += 1
    }

    /// Adds a line that is not part of a chunk, and closes the chunk.
    mutating func skip(_ line: String) {
        all.append(line)
        open = 0
    }

    /// Closes the chunk after it was run or discarded.
    mutating func close() { open = 0 }

    var source: [UInt8] { Array(all.joined(separator: "\n").utf8) }
}

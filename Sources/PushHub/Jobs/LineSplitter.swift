import PushModel

/// Splits a byte stream into lines.
struct LineSplitter {
    enum Line: Equatable {
        case text([UInt8])
        /// A line above the limit; its content is discarded.
        case tooLong
    }

    private let limit: Int
    private var partial: [UInt8] = []
    private var isTooLong = false
    private var isAtStart = true

    init(limit: Int) {
        self.limit = limit
    }

    /// The lines that end in this piece, without line ends.
    mutating func add(_ piece: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var rest = piece[...]
        while let end = rest.firstIndex(of: 0x0A) {
            append(rest[..<end])
            lines.append(take())
            rest = rest[(end + 1)...]
        }
        append(rest)
        return lines
    }

    /// The text after the last line end; nil if there is none.
    mutating func finish() -> Line? { partial.isEmpty && !isTooLong ? nil : take() }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        guard partial.count + bytes.count <= limit + 1 else {
            isTooLong = true
            partial = []
            return
        }
        partial += bytes
    }

    private mutating func take() -> Line {
        defer { (partial, isTooLong, isAtStart) = ([], false, false) }
        if partial.last == 0x0D { partial.removeLast() }
        // A byte order mark.
        if isAtStart, partial.starts(with: [0xEF, 0xBB, 0xBF]) { partial.removeFirst(3) }
        return isTooLong || partial.count > limit ? .tooLong : .text(partial)
    }
}

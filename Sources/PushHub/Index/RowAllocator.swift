import PushModel

/// Allocates row numbers.
///
/// Send runs refer to rows, not to registrations. A freed row is therefore reused only after every run that began earlier has ended;
/// otherwise a run could send to a device that it does not target.
struct RowAllocator: Sendable {
    private var free: [UInt32] = []
    private var resting = FIFOQueue<(row: UInt32, run: UInt64)>()
    /// Runs in progress.
    private var runs: Set<UInt64> = []
    private var nextRun: UInt64 = 0
    /// Lower bound for the runs in progress.
    private var firstRun: UInt64 = 0
    /// End of the range of rows allocated so far.
    private(set) var end: UInt32 = 0

    init() {}

    /// Frees all rows below `end` that are not taken; the lowest is allocated first.
    init(end: UInt32, isTaken: (UInt32) -> Bool) {
        self.end = end
        free = (0..<end).reversed().filter { !isTaken($0) }
    }

    mutating func allocate() -> UInt32 {
        if let row = free.popLast() { return row }
        defer { end += 1 }
        return end
    }

    /// Returns a row that was allocated but never used.
    mutating func returnUnused(_ row: UInt32) { free.append(row) }

    /// Frees a row. Returns true if it can be reused at once; otherwise `endRun(_:)` returns it later.
    mutating func rest(_ row: UInt32) -> Bool {
        guard !runs.isEmpty else {
            free.append(row)
            return true
        }
        resting.append((row, nextRun))
        return false
    }

    mutating func beginRun() -> UInt64 {
        defer { nextRun += 1 }
        runs.insert(nextRun)
        return nextRun
    }

    /// Ends a run. Returns the rows that can be reused from now on.
    mutating func endRun(_ run: UInt64) -> [UInt32] {
        runs.remove(run)
        while firstRun < nextRun, !runs.contains(firstRun) { firstRun += 1 }
        var rested: [UInt32] = []
        while let first = resting.first, first.run <= firstRun {
            rested.append(first.row)
            resting.removeFirst(1)
        }
        free += rested
        return rested
    }
}

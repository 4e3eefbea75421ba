/// Which places are free.
///
/// Runs hold places, not registrations. So a place that is freed rests until every run that began before has ended: in the
/// meantime it is nobody else's, and no push goes to a device that a run does not mean.
struct PlaceSupply: Sendable {
    private var free: [UInt32] = []
    private var resting = Line<(place: UInt32, run: UInt64)>()
    /// Runs that are under way.
    private var runs: Set<UInt64> = []
    private var nextRun: UInt64 = 0
    /// The first run that may be under way.
    private var firstRun: UInt64 = 0
    /// One behind the highest place that was given out.
    private(set) var end: UInt32 = 0

    init() {}

    /// All below `end` are free but for those taken; the lowest is the next.
    init(end: UInt32, isTaken: (UInt32) -> Bool) {
        self.end = end
        free = (0..<end).reversed().filter { !isTaken($0) }
    }

    mutating func take() -> UInt32 {
        if let place = free.popLast() { return place }
        defer { end += 1 }
        return end
    }

    /// A place that nothing ever stood at, because what was to come there did not.
    mutating func giveBack(_ place: UInt32) { free.append(place) }

    /// Answers whether the place may be used again at once; else `endRun` tells when.
    mutating func rest(_ place: UInt32) -> Bool {
        guard !runs.isEmpty else {
            free.append(place)
            return true
        }
        resting.append((place, nextRun))
        return false
    }

    mutating func beginRun() -> UInt64 {
        defer { nextRun += 1 }
        runs.insert(nextRun)
        return nextRun
    }

    /// Answers which places may be used again from now on.
    mutating func endRun(_ run: UInt64) -> [UInt32] {
        runs.remove(run)
        while firstRun < nextRun, !runs.contains(firstRun) { firstRun += 1 }
        var rested: [UInt32] = []
        while let first = resting.first, first.run <= firstRun {
            rested.append(first.place)
            resting.removeFirst(1)
        }
        free += rested
        return rested
    }
}

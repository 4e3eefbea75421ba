/// Notifications to very many devices, of which only so many are under way at a time that all their devices fit into memory. The
/// others wait, as numbers, while small ones go past them. Part of an actor's state.
struct Crowds: Sendable {
    /// From how many devices on a notification is one of these.
    static let least = 10_000

    /// Devices of each that is under way, at most.
    private var underWay: [Int64: Int] = [:]
    private var devices = 0
    private var waiting = Line<(sequence: Int64, devices: Int)>()

    var count: Int { waiting.count }

    /// Whether a notification may begin; else it waits here.
    mutating func begins(_ sequence: Int64, devices: Int, limit: Int) -> Bool {
        guard devices >= Self.least else { return true }
        guard count == 0, hasRoom(devices, limit) else {
            waiting.append((sequence: sequence, devices: devices))
            return false
        }
        take(sequence, devices)
        return true
    }

    /// The next one that may begin.
    mutating func next(limit: Int) -> Int64? {
        guard let (sequence, devices) = waiting.first, hasRoom(devices, limit) else { return nil }
        waiting.removeFirst(1)
        take(sequence, devices)
        return sequence
    }

    mutating func ended(_ sequence: Int64) {
        if let devices = underWay.removeValue(forKey: sequence) { self.devices -= devices }
    }

    /// One alone always has.
    private func hasRoom(_ devices: Int, _ limit: Int) -> Bool { underWay.isEmpty || self.devices + devices <= limit }

    private mutating func take(_ sequence: Int64, _ devices: Int) {
        underWay[sequence] = devices
        self.devices += devices
    }
}

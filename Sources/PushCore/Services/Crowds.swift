/// Notifications that are never put off: to very many devices, of which only so many are under way at a time that all their devices fit
/// into memory, or with a pace. The others wait, as numbers, while small ones go past them. Part of an actor's state.
struct Crowds: Sendable {
    /// From how many devices on a notification is one of these.
    let least: Int

    /// Devices of each that is under way, at most.
    private var underWay: [Int64: Int] = [:]
    private var devices = 0
    private var waiting = Line<(sequence: Int64, devices: Int)>()

    init(least: Int) { self.least = least }

    /// Those that wait.
    var count: Int { waiting.count }
    /// Those under way.
    var begun: Int { underWay.count }

    /// Whether a notification may begin; else it waits here.
    mutating func begins(_ sequence: Int64, devices: Int, limit: Int) -> Bool {
        guard devices >= least else { return true }
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

    /// One that is to end now waits no longer. False where it does not wait here.
    mutating func hurry(_ sequence: Int64) -> Bool {
        guard waiting.removeFirst(where: { $0.sequence == sequence }) != nil else { return false }
        take(sequence, 0)
        return true
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

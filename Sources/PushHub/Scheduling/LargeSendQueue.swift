import PushModel

/// Queues sends that are never deferred: very large ones, limited so that the devices of those in progress fit into memory, and paced
/// ones. Queued sends are held as numbers, and smaller sends overtake them.
///
/// Not thread-safe: it is part of the state of the actor that owns it.
struct LargeSendQueue: Sendable {
    /// Smallest number of devices of a send that this queue handles.
    let threshold: Int

    /// Maximum number of devices of each send in progress.
    private var inFlight: [Int64: Int] = [:]
    private var devices = 0
    private var waiting = FIFOQueue<(sequence: Int64, devices: Int)>()

    init(threshold: Int) { self.threshold = threshold }

    /// Number of queued sends.
    var count: Int { waiting.count }
    /// Number of sends in progress.
    var activeCount: Int { inFlight.count }

    /// Whether a send may start. Otherwise it is queued.
    mutating func begins(_ sequence: Int64, devices: Int, limit: Int) -> Bool {
        guard devices >= threshold else { return true }
        guard count == 0, fits(devices, limit) else {
            waiting.append((sequence: sequence, devices: devices))
            return false
        }
        admit(sequence, devices)
        return true
    }

    /// Dequeues the next send if it may start.
    mutating func next(limit: Int) -> Int64? {
        guard let (sequence, devices) = waiting.first, fits(devices, limit) else { return nil }
        waiting.removeFirst(1)
        admit(sequence, devices)
        return sequence
    }

    /// Dequeues a cancelled send, so that it can end at once. Returns `false` if it is not queued.
    mutating func dequeue(_ sequence: Int64) -> Bool {
        guard waiting.removeFirst(where: { $0.sequence == sequence }) != nil else { return false }
        admit(sequence, 0)
        return true
    }

    mutating func ended(_ sequence: Int64) {
        if let devices = inFlight.removeValue(forKey: sequence) { self.devices -= devices }
    }

    /// A single send may exceed the limit.
    private func fits(_ devices: Int, _ limit: Int) -> Bool { inFlight.isEmpty || self.devices + devices <= limit }

    private mutating func admit(_ sequence: Int64, _ devices: Int) {
        inFlight[sequence] = devices
        self.devices += devices
    }
}

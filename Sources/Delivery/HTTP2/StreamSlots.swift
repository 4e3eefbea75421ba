import PushModel

/// One request in flight.
struct StreamSlot {
    var ticket: Ticket?
    var stream: Int32 = 0
    /// Number of body bytes that are serialised.
    var sent = 0
    /// Whether the whole request is serialised. From then on the service may have processed it.
    var isEnded = false
    /// Whether the whole response was received.
    var isComplete = false
    var status: Int32 = 0
    var id: PushID?
    var idText: String?
    var retryAfter: String?
    var location: String?
    /// All header fields of the response, if they are recorded.
    var headers: [PushHeader] = []
    var body: [UInt8] = []
    /// The tick at which the request started.
    var startTick: UInt32 = 0
}

/// The requests in flight on one connection. Slots have stable addresses, since callbacks of a C library refer to them while others are
/// added.
final class StreamSlots {
    private let slots: UnsafeMutablePointer<StreamSlot>
    private var free: [Int32]
    let capacity: Int
    private(set) var live = 0

    init(capacity: Int) {
        self.capacity = capacity
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: StreamSlot(), count: capacity)
        free = (0..<Int32(capacity)).reversed()
    }

    deinit {
        slots.deinitialize(count: capacity)
        slots.deallocate()
    }

    subscript(_ slot: Int32) -> UnsafeMutablePointer<StreamSlot> {
        precondition(slot >= 0 && slot < capacity)
        return slots + Int(slot)
    }

    /// The slot, if it still belongs to this stream; otherwise `nil`.
    func pointer(_ slot: Int32, of stream: Int32) -> UnsafeMutablePointer<StreamSlot>? {
        guard slot >= 0, slot < capacity, slots[Int(slot)].stream == stream else { return nil }
        return slots + Int(slot)
    }

    /// Occupies a free slot. The caller must ensure that fewer than `capacity` are in use.
    func take(_ ticket: Ticket, tick: UInt32) -> Int32 {
        let slot = free.removeLast()
        let pointer = self[slot]
        pointer.pointee.ticket = ticket
        pointer.pointee.startTick = tick
        live += 1
        return slot
    }

    /// Frees a slot and returns its ticket. No other method returns it, so each push is settled once.
    func release(_ slot: Int32) -> Ticket {
        let pointer = self[slot]
        guard let ticket = pointer.pointee.ticket else { preconditionFailure("a stream ends once") }
        pointer.pointee.ticket = nil
        pointer.pointee.stream = 0
        pointer.pointee.sent = 0
        pointer.pointee.isEnded = false
        pointer.pointee.isComplete = false
        pointer.pointee.status = 0
        pointer.pointee.id = nil
        if pointer.pointee.idText != nil { pointer.pointee.idText = nil }
        if pointer.pointee.retryAfter != nil { pointer.pointee.retryAfter = nil }
        if pointer.pointee.location != nil { pointer.pointee.location = nil }
        if !pointer.pointee.headers.isEmpty { pointer.pointee.headers = [] }
        if !pointer.pointee.body.isEmpty { pointer.pointee.body = [] }
        free.append(slot)
        live -= 1
        return ticket
    }

    var liveSlots: [Int32] { (0..<Int32(capacity)).filter { slots[Int($0)].ticket != nil } }
}

extension StreamSlot {
    /// The complete response; `nil` until then.
    var answer: PushAnswer? {
        guard isComplete, status >= 200 else { return nil }
        guard !body.isEmpty || retryAfter != nil || idText != nil || location != nil || !headers.isEmpty else {
            return PushAnswer(status: Int(status), id: id)
        }
        return PushAnswer(
            status: Int(status), id: id,
            details: AnswerDetails(body: body, retryAfter: retryAfter, idText: idText, location: location, headers: headers))
    }
}

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
    var begun: UInt32 = 0
}

/// The requests in flight on one connection. Slots have stable addresses, since callbacks of a C library refer to them while others are
/// added.
final class StreamSlots {
    private let places: UnsafeMutablePointer<StreamSlot>
    private var free: [Int32]
    let capacity: Int
    private(set) var live = 0

    init(capacity: Int) {
        self.capacity = capacity
        places = .allocate(capacity: capacity)
        places.initialize(repeating: StreamSlot(), count: capacity)
        free = (0..<Int32(capacity)).reversed()
    }

    deinit {
        places.deinitialize(count: capacity)
        places.deallocate()
    }

    subscript(_ slot: Int32) -> UnsafeMutablePointer<StreamSlot> {
        precondition(slot >= 0 && slot < capacity)
        return places + Int(slot)
    }

    /// The slot, if it still belongs to this stream; otherwise `nil`.
    func place(_ slot: Int32, of stream: Int32) -> UnsafeMutablePointer<StreamSlot>? {
        guard slot >= 0, slot < capacity, places[Int(slot)].stream == stream else { return nil }
        return places + Int(slot)
    }

    /// Occupies a free slot. The caller must ensure that fewer than `capacity` are in use.
    func take(_ ticket: Ticket, tick: UInt32) -> Int32 {
        let slot = free.removeLast()
        let place = self[slot]
        place.pointee.ticket = ticket
        place.pointee.begun = tick
        live += 1
        return slot
    }

    /// Frees a slot and returns its ticket. No other method returns it, so each push is settled once.
    func release(_ slot: Int32) -> Ticket {
        let place = self[slot]
        guard let ticket = place.pointee.ticket else { preconditionFailure("a stream ends once") }
        place.pointee.ticket = nil
        place.pointee.stream = 0
        place.pointee.sent = 0
        place.pointee.isEnded = false
        place.pointee.isComplete = false
        place.pointee.status = 0
        place.pointee.id = nil
        if place.pointee.idText != nil { place.pointee.idText = nil }
        if place.pointee.retryAfter != nil { place.pointee.retryAfter = nil }
        if place.pointee.location != nil { place.pointee.location = nil }
        if !place.pointee.headers.isEmpty { place.pointee.headers = [] }
        if !place.pointee.body.isEmpty { place.pointee.body = [] }
        free.append(slot)
        live -= 1
        return ticket
    }

    var liveSlots: [Int32] { (0..<Int32(capacity)).filter { places[Int($0)].ticket != nil } }
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

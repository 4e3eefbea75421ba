import PushModel

/// The remaining work of one notification: batches for its push services, each with a due time.
struct DeliveryRun: Sendable {
    /// An attempt to deliver to some members of a group: the first, or a retry.
    struct Attempt: Sendable {
        enum Members: Sendable {
            /// Indices into the group's members.
            case first(Range<Int>)
            /// Members of the group.
            case sorted([UInt32])
            /// Members of the group, each with its last result.
            case again([(member: UInt32, result: DeliveryResult)])
        }

        var group: Int
        var service: PushService
        var number: Int
        /// The deadline for retries; nil before the first attempt.
        var retryDeadline: Timestamp?
        var members: Members

        var count: Int {
            switch members {
            case .first(let range): range.count
            case .sorted(let members): members.count
            case .again(let waiting): waiting.count
            }
        }

        /// Keeps the first `count` members, and returns an attempt with the others.
        mutating func split(after count: Int) -> Attempt {
            var rest = self
            switch members {
            case .first(let range):
                let middle = range.lowerBound + count
                (members, rest.members) = (.first(range.lowerBound..<middle), .first(middle..<range.upperBound))
            case .sorted(let sorted):
                (members, rest.members) = (.sorted(Array(sorted.prefix(count))), .sorted(Array(sorted.dropFirst(count))))
            case .again(let waiting):
                (members, rest.members) = (.again(Array(waiting.prefix(count))), .again(Array(waiting.dropFirst(count))))
            }
            return rest
        }
    }

    /// An attempt in flight, with its recipients.
    struct Batch: Sendable {
        var attempt: Attempt
        /// The size of the body in bytes.
        let size: Int
        var members: [UInt32] = []
        var recipients: [Recipient] = []
        /// Results of members that were removed since the send began.
        var left: [CompletedTarget] = []

        /// - Parameter recipients: the recipients of these members, in their order.
        /// - Returns: members that were removed.
        mutating func add(_ members: [UInt32], _ recipients: [Recipient]) -> [UInt32] {
            var left: [UInt32] = []
            for (member, recipient) in zip(members, recipients) {
                guard recipient.hasLeft else {
                    self.members.append(member)
                    self.recipients.append(recipient)
                    continue
                }
                let device = recipient.outcome(.skipped, reason: "", .removedEarly, size: size)
                self.left.append(CompletedTarget(order: Int(member), result: DeliveryResult(device: device)))
                left.append(member)
            }
            return left
        }
    }

    /// A queue of batches for one push service, or for all of them if delivery is sequential.
    struct Lane: Sendable {
        /// The state of a lane's slot at its push service. Notifications share these slots.
        enum SlotState {
            /// A slot must be acquired for each batch.
            case unknown
            case lacking
            /// The run waits in the queue for a slot.
            case awaited
            /// A slot is held for one batch.
            case granted
        }

        /// The push service; nil for the lane of sequential delivery.
        let service: PushService?
        var attempts = TimeQueue<Attempt>()
        /// Number of batches in flight.
        var inFlight = 0
        /// Nothing is sent before this time.
        var deferredUntil: Timestamp?
        var slot = SlotState.unknown
    }

    let id: String
    let options: PushOptions
    let groups: [RenderedGroup]
    /// Duplicates, which get nothing because another registration with the same handle gets the push.
    var duplicateHandles: DuplicateHandles
    /// Start of the delivery, by the hub's clock.
    let began: Timestamp
    /// Start of the delivery. This and all other times are by the monotonic clock.
    let start: Timestamp
    /// The sender of a test waits for the results, so the first verdict is final.
    let isTest: Bool
    /// The seed of the retry jitter, different for each notification.
    let seed: UInt64
    private(set) var lanes: [Lane] = []
    private var laneOfService: [PushService: Int] = [:]
    /// Members of browser groups whose push services have not been looked up yet.
    private var unsorted: [(group: Int, members: Range<Int>)] = []
    private let isConcurrent: Bool
    private let maximumInFlight: Int
    private let batchSize: Int
    private let pace: Pace?
    /// The pace allows no batch before this time.
    private var nextPaceTime: Timestamp?
    /// The lane that is next to use the pace.
    private var nextLane = 0
    /// Push services that reject the hub's credential, with their rejections.
    var refusals: [PushService: Rejection] = [:]
    /// Groups whose headers a push service rejects, with its rejections.
    var groupRefusals: [Int: Rejection] = [:]
    /// Maximum number of push services of browsers with a lane each. Each of them needs connections.
    static let mostOrigins = 128
    /// Number of browser batches in flight. From `manyBrowserBatches` on, each push service gets one at a time, because every message is
    /// encrypted separately.
    private var browserBatches = 0
    private static let manyBrowserBatches = 64

    /// - Parameters:
    ///   - request: the request to deliver.
    ///   - duplicateHandles: duplicates, which get nothing because another registration with the same handle gets the push.
    ///   - began: time of the first attempt, now or in an earlier run.
    ///   - batchSize: maximum number of devices per batch.
    ///   - batchesInFlight: maximum number of batches in flight to one push service; nil for sequential delivery.
    init(
        id: String, request: NotificationRequest, groups: [RenderedGroup], duplicateHandles: DuplicateHandles, began: Timestamp,
        start: Timestamp,
        batchSize: Int, batchesInFlight: Int?
    ) {
        self.id = id
        (self.groups, self.duplicateHandles) = (groups, duplicateHandles)
        self.began = began
        self.start = start
        options = request.options
        isTest = request.isTest
        seed = id.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        pace = request.pace
        self.batchSize = batchSize
        isConcurrent = batchesInFlight != nil
        maximumInFlight = batchesInFlight ?? 1
    }

    /// The start of a run's first attempt.
    struct Start: Sendable {
        /// The number of the attempt, including earlier runs.
        var number = 1
        var time: Timestamp
        /// The deadline of devices that were tried in an earlier run.
        var retryDeadline: Timestamp?
    }

    /// Queues a group's first attempt in this run, in batches. With concurrent delivery, browsers have to be assigned to push services
    /// first.
    mutating func begin(_ group: Int, _ start: Start) {
        let (platform, count) = (groups[group].platform, groups[group].members.count)
        if isConcurrent, platform == .browser {
            unsorted.append((group, 0..<count))
            return
        }
        for first in stride(from: 0, to: count, by: batchSize) {
            let members = Attempt.Members.first(first..<min(first + batchSize, count))
            insertFirst(members, of: group, PushService(platform), start)
        }
    }

    /// Queues the first attempt in this run for browsers of one push service, in batches.
    mutating func begin(_ group: Int, _ members: [UInt32], of service: PushService, _ start: Start) {
        for first in stride(from: 0, to: members.count, by: batchSize) {
            let batch = Attempt.Members.sorted(Array(members[first..<min(first + batchSize, members.count)]))
            insertFirst(batch, of: group, service, start)
        }
    }

    private mutating func insertFirst(_ members: Attempt.Members, of group: Int, _ service: PushService, _ start: Start) {
        insert(
            Attempt(group: group, service: service, number: start.number, retryDeadline: start.retryDeadline, members: members),
            at: start.time)
    }

    mutating func insert(_ attempt: Attempt, at time: Timestamp) {
        if let lane = isConcurrent ? laneOfService[attempt.service] : lanes.indices.first {
            lanes[lane].attempts.insert(attempt, at: time)
        } else {
            var lane = Lane(service: isConcurrent ? attempt.service : nil)
            lane.attempts.insert(attempt, at: time)
            laneOfService[attempt.service] = lanes.count
            lanes.append(lane)
        }
    }

    // MARK: - Assigning browsers to push services

    /// Browsers looked up at a time: enough to fill batches for several push services.
    private var sortedAtATime: Int { 8 * batchSize }

    var isSorted: Bool { unsorted.isEmpty }

    /// The next browsers to assign to push services.
    mutating func nextUnsorted() -> (group: Int, members: [UInt32])? {
        guard let (group, range) = unsorted.first else { return nil }
        let part = range.prefix(sortedAtATime)
        if part.count < range.count { unsorted[0].members = part.endIndex..<range.endIndex } else { unsorted.removeFirst() }
        return (group, Array(groups[group].members[part]))
    }

    /// The push service of an origin. Origins beyond `mostOrigins` share one lane.
    func service(ofOrigin origin: Substring) -> PushService {
        let service = PushService(.browser, origin: String(origin))
        return laneOfService[service] != nil || laneOfService.count < Self.mostOrigins ? service : .others
    }

    // MARK: - Slots at push services

    func isWaitingForSlot(_ lane: Int) -> Bool { lanes[lane].slot == .awaited }

    /// Records that no slot was free for the lane's next batch.
    mutating func noSlotFree(_ lane: Int) { lanes[lane].slot = .lacking }

    /// Uses the lane's granted slot for a batch. Returns `false` if there is none.
    mutating func useSlot(_ lane: Int) -> Bool {
        defer { lanes[lane].slot = .unknown }
        return lanes[lane].slot == .granted
    }

    mutating func setSlot(_ lane: Int, _ isGranted: Bool) { lanes[lane].slot = isGranted ? .granted : .unknown }

    /// The lanes without a free slot; they wait in the queue from now on.
    mutating func lanesToQueue() -> [(lane: Int, service: PushService)] {
        lanes.indices.compactMap { lane in
            guard lanes[lane].slot == .lacking, let first = lanes[lane].attempts.first else { return nil }
            lanes[lane].slot = .awaited
            return (lane, first.subject.service)
        }
    }

    /// Services at which the run has slots that it does not need. The caller must release them.
    mutating func unusedSlots() -> [PushService] {
        lanes.indices.compactMap { lane in
            guard lanes[lane].slot == .granted else { return nil }
            lanes[lane].slot = .unknown
            return lanes[lane].service
        }
    }

    // MARK: - Batches

    /// Removes the next batch of a lane, of at most `most` devices, and counts it as in flight.
    ///
    /// - Parameter isSent: whether it is sent, and so uses the pace.
    mutating func take(_ lane: Int, most: Int = .max, now: Timestamp, isSent: Bool = true) -> Attempt? {
        guard let popped = lanes[lane].attempts.popFirst() else { return nil }
        var attempt = popped.subject
        let count = min(most, pace?.batch(batchSize) ?? batchSize)
        if attempt.count > count { lanes[lane].attempts.insert(attempt.split(after: count), at: popped.time) }
        if let pace, isSent {
            nextPaceTime = max(now, nextPaceTime ?? now) + pace.duration(of: attempt.count)
            nextLane = (lane + 1) % lanes.count
        }
        lanes[lane].inFlight += 1
        if lanes[lane].service?.origin != nil { browserBatches += 1 }
        return attempt
    }

    /// All lanes. With a pace, they start after the lane that used it last, so that services take turns.
    var lanesInOrder: [Int] { pace == nil ? Array(lanes.indices) : Array(nextLane..<lanes.count) + Array(0..<nextLane) }

    /// Sends nothing of the lane before `time`.
    mutating func deferLane(_ lane: Int, until time: Timestamp) { lanes[lane].deferredUntil = time }

    /// Delays the lane's next batch until `time`. Batches behind it are not delayed; they may be for other services.
    mutating func postpone(_ lane: Int, until time: Timestamp) {
        guard let popped = lanes[lane].attempts.popFirst() else { return }
        lanes[lane].attempts.insert(popped.subject, at: time)
    }

    mutating func finished(_ lane: Int) {
        lanes[lane].inFlight -= 1
        if lanes[lane].service?.origin != nil { browserBatches -= 1 }
    }

    /// Whether all work is one batch, without a pace.
    var isSingleBatch: Bool { lanes.count == 1 && lanes[0].attempts.count == 1 && unsorted.isEmpty && pace == nil }

    /// Whether no work is left.
    var isThrough: Bool { unsorted.isEmpty && lanes.allSatisfy { $0.inFlight == 0 && $0.attempts.isEmpty } }

    var isInFlight: Bool { lanes.contains { $0.inFlight > 0 } }

    func isIdle(_ lane: Int) -> Bool { lanes[lane].inFlight == 0 }

    /// The earliest due time of a lane that may send; nil if there is none.
    var nextDueTime: Timestamp? { lanes.indices.lazy.compactMap { next($0)?.time }.min() }

    /// The earliest due time after `time`, when all lanes were checked last. A batch that is due already waits for another event.
    func alarm(after time: Timestamp) -> Timestamp? {
        lanes.indices.lazy.compactMap { next($0)?.time }.filter { $0 > time }.min()
    }

    /// The next batch of a lane.
    struct Next: Sendable {
        var service: PushService
        var group: Int
        var time: Timestamp
        /// The deadline for retries; nil if nothing was tried yet.
        var retryDeadline: Timestamp?

        var isFirst: Bool { retryDeadline == nil }
    }

    func next(_ lane: Int) -> Next? {
        let most = lanes[lane].service?.origin != nil && browserBatches >= Self.manyBrowserBatches ? 1 : maximumInFlight
        guard lanes[lane].inFlight < most, let (time, attempt) = lanes[lane].attempts.first else { return nil }
        return Next(
            service: attempt.service, group: attempt.group, time: max(time, lanes[lane].deferredUntil ?? time, nextPaceTime ?? time),
            retryDeadline: attempt.retryDeadline)
    }

    /// The last results of a lane's next devices, if they were tried in this run. As many as the next batch has.
    func nextResults(_ lane: Int) -> [CompletedTarget] {
        guard case .again(let waiting)? = lanes[lane].attempts.first?.subject.members else { return [] }
        return waiting.prefix(pace?.batch(batchSize) ?? batchSize).map { CompletedTarget(order: Int($0.member), result: $0.result) }
    }

    func members(of attempt: Attempt) -> [UInt32] {
        switch attempt.members {
        case .first(let range): Array(groups[attempt.group].members[range])
        case .sorted(let members): members
        case .again(let waiting): waiting.map(\.member)
        }
    }

    func work(_ batch: Batch) -> DeliveryBatch {
        let group = groups[batch.attempt.group]
        return DeliveryBatch(
            notificationID: id, platform: group.platform, body: group.body, headers: group.headers, options: options,
            handles: batch.recipients.map(\.handle))
    }

    /// Removes and returns all remaining work: that of the lanes in order, then browsers without a lane.
    mutating func drain() -> [(time: Timestamp, attempt: Attempt)] {
        var left: [(time: Timestamp, attempt: Attempt)] = []
        for lane in lanes.indices {
            let earliest = lanes[lane].deferredUntil
            while let (time, attempt) = lanes[lane].attempts.popFirst() { left.append((max(time, earliest ?? time), attempt)) }
        }
        for (group, members) in unsorted {
            left.append((start, Attempt(group: group, service: .others, number: 1, members: .first(members))))
        }
        unsorted = []
        return left
    }
}

/// The end of a delivery run.
enum DeliveryEnd: Sendable {
    /// Every target has a result.
    case done
    /// It was cancelled. `pending` are targets that were to be retried, with their last results; `untried` are targets that were not tried;
    /// `duplicates` were not reported.
    case cancelled(pending: [CompletedTarget], untried: [(group: RecipientGroup, members: [UInt32])], duplicates: [UInt32])
    /// The rest has to wait, and nothing is in flight.
    case deferred(RetryState)
}

/// The reason why a notification that has not ended frees its delivery slot.
enum Delay: Sendable {
    /// Push services have deferred some of its devices.
    case service(RetryState)
    /// Hooks have deferred some of its devices; the others have results.
    case deferredDevices(id: String, until: Timestamp)
}

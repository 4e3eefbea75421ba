/// The work that is left of one notification: batches for its push services, each at its moment.
struct DeliveryRun: Sendable {
    /// Some members of a group whose turn comes, for the first time or again.
    struct Attempt: Sendable {
        enum Members: Sendable {
            /// By their numbers in the group.
            case first(Range<Int>)
            /// The same, as in the group.
            case sorted([UInt32])
            /// As in the group, each with what it was told before.
            case again([(member: UInt32, result: DeliveryResult)])
        }

        var group: Int
        var service: PushService
        var number: Int
        /// Nothing is tried again later than that; nil before the first attempt.
        var lastMoment: Timestamp?
        var members: Members

        var count: Int {
            switch members {
            case .first(let range): range.count
            case .sorted(let members): members.count
            case .again(let waiting): waiting.count
            }
        }

        /// Leaves the first `count`; answers the others.
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

    /// An attempt on its way, with those who stand at its targets.
    struct Batch: Sendable {
        var attempt: Attempt
        /// Of the body, in bytes.
        let size: Int
        var members: [UInt32] = []
        var recipients: [Recipient] = []
        /// Those that have left since the send began.
        var left: [SettledTarget] = []

        /// - Parameter recipients: who stands at these members, in their order.
        /// - Returns: those that have left.
        mutating func add(_ members: [UInt32], _ recipients: [Recipient]) -> [UInt32] {
            var left: [UInt32] = []
            for (member, recipient) in zip(members, recipients) {
                guard recipient.hasLeft else {
                    self.members.append(member)
                    self.recipients.append(recipient)
                    continue
                }
                let device = recipient.outcome(.skipped, reason: "", Recipient.leftEarly, size: size)
                self.left.append(SettledTarget(order: Int(member), result: DeliveryResult(device: device)))
                left.append(member)
            }
            return left
        }
    }

    /// What is done one after the other: a push service's batches, or all of them where nothing is side by side.
    struct Lane: Sendable {
        /// Room at a push service that notifications share.
        enum Room {
            /// To be asked for with each batch.
            case unknown
            case lacking
            /// The run stands in line for it.
            case awaited
            /// For one batch.
            case granted
        }

        /// Whose batches they are; nil where they are anybody's.
        let service: PushService?
        var attempts = TimeQueue<Attempt>()
        /// Batches.
        var underWay = 0
        /// The service is left in peace until then.
        var heldUntil: Timestamp?
        var room = Room.unknown
    }

    let id: String
    let options: PushOptions
    let groups: [RenderedGroup]
    /// Those that get nothing because others have the push.
    var twins: Twins
    /// As the clock said.
    let began: Timestamp
    /// This and all moments are of the time that nobody sets.
    let start: Timestamp
    /// Whoever sends a test waits for the verdicts: the first one is the last.
    let isTest: Bool
    /// Different for every notification.
    let seed: UInt64
    private(set) var lanes: [Lane] = []
    private var laneOfService: [PushService: Int] = [:]
    /// Members of groups of browsers that nobody has looked up to tell their push services apart.
    private var unsorted: [(group: Int, members: Range<Int>)] = []
    private let isSideBySide: Bool
    private let mostUnderWay: Int
    private let batchSize: Int
    private let pace: Pace?
    /// Before that the pace lets nobody go.
    private var paceMoment: Timestamp?
    /// The lane whose turn it is with a pace.
    private var turn = 0
    /// Push services that refuse the hub's credential, with what they say.
    var refusals: [PushService: Rejection] = [:]
    /// Groups whose headers a push service refuses, with what it says.
    var groupRefusals: [Int: Rejection] = [:]
    /// Of browsers, with a lane of their own each: each has connections.
    static let mostOrigins = 128
    /// Batches of browsers that are under way. With more than this each push service has one at a time, for they are encrypted messages.
    private var browserBatches = 0
    private static let manyBrowserBatches = 64

    /// - Parameters:
    ///   - request: Whose work it is.
    ///   - twins: Those that get nothing because others have the push.
    ///   - began: When the first device had its first attempt, or has it now.
    ///   - batchSize: Most devices of a batch.
    ///   - batchesUnderWay: Of a push service at a time; nil for one after the other, whatever their services.
    init(
        id: String, request: NotificationRequest, groups: [RenderedGroup], twins: Twins, began: Timestamp, start: Timestamp,
        batchSize: Int, batchesUnderWay: Int?
    ) {
        self.id = id
        (self.groups, self.twins) = (groups, twins)
        self.began = began
        self.start = start
        options = request.options
        isTest = request.isTest
        seed = id.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        pace = request.pace
        self.batchSize = batchSize
        isSideBySide = batchesUnderWay != nil
        mostUnderWay = batchesUnderWay ?? 1
    }

    /// How the first attempt of a run begins.
    struct Start: Sendable {
        /// Which attempt it is, with those of the runs before.
        var number = 1
        var moment: Timestamp
        /// Of those that were tried before.
        var lastMoment: Timestamp?
    }

    /// Gives a group its first attempt of this run, in batches. A group of browsers is to be sorted before, where services are side by
    /// side.
    ///
    mutating func begin(_ group: Int, _ start: Start) {
        let (platform, count) = (groups[group].platform, groups[group].members.count)
        if isSideBySide, platform == .browser {
            unsorted.append((group, 0..<count))
            return
        }
        for first in stride(from: 0, to: count, by: batchSize) {
            let members = Attempt.Members.first(first..<min(first + batchSize, count))
            insertFirst(members, of: group, PushService(platform), start)
        }
    }

    /// Gives browsers of one push service their first attempt of this run, in batches.
    mutating func begin(_ group: Int, _ members: [UInt32], of service: PushService, _ start: Start) {
        for first in stride(from: 0, to: members.count, by: batchSize) {
            let batch = Attempt.Members.sorted(Array(members[first..<min(first + batchSize, members.count)]))
            insertFirst(batch, of: group, service, start)
        }
    }

    private mutating func insertFirst(_ members: Attempt.Members, of group: Int, _ service: PushService, _ start: Start) {
        insert(
            Attempt(group: group, service: service, number: start.number, lastMoment: start.lastMoment, members: members),
            at: start.moment)
    }

    mutating func insert(_ attempt: Attempt, at moment: Timestamp) {
        if let lane = isSideBySide ? laneOfService[attempt.service] : lanes.indices.first {
            lanes[lane].attempts.insert(attempt, at: moment)
        } else {
            var lane = Lane(service: isSideBySide ? attempt.service : nil)
            lane.attempts.insert(attempt, at: moment)
            laneOfService[attempt.service] = lanes.count
            lanes.append(lane)
        }
    }

    // MARK: - Sorting

    /// Looked up at a time: enough for full batches of a handful of services.
    private var sortedAtATime: Int { 8 * batchSize }

    var isSorted: Bool { unsorted.isEmpty }

    /// The next browsers whose push services are to be told apart.
    mutating func nextUnsorted() -> (group: Int, members: [UInt32])? {
        guard let (group, range) = unsorted.first else { return nil }
        let part = range.prefix(sortedAtATime)
        if part.count < range.count { unsorted[0].members = part.endIndex..<range.endIndex } else { unsorted.removeFirst() }
        return (group, Array(groups[group].members[part]))
    }

    /// The push service of an origin; those beyond the most that there may be have one lane together.
    func service(ofOrigin origin: Substring) -> PushService {
        let service = PushService(.browser, origin: String(origin))
        return laneOfService[service] != nil || laneOfService.count < Self.mostOrigins ? service : .others
    }

    // MARK: - Room at push services

    func awaitsRoom(_ lane: Int) -> Bool { lanes[lane].room == .awaited }

    /// The lane found no room for its next batch.
    mutating func lacksRoom(_ lane: Int) { lanes[lane].room = .lacking }

    /// Whether the lane has room for a batch, which it uses now.
    mutating func takesRoom(_ lane: Int) -> Bool {
        defer { lanes[lane].room = .unknown }
        return lanes[lane].room == .granted
    }

    mutating func hasRoom(_ lane: Int, _ isGranted: Bool) { lanes[lane].room = isGranted ? .granted : .unknown }

    /// Lanes that found none and stand in line for it from now on.
    mutating func lanesInWait() -> [(lane: Int, service: PushService)] {
        lanes.indices.compactMap { lane in
            guard lanes[lane].room == .lacking, let first = lanes[lane].attempts.first else { return nil }
            lanes[lane].room = .awaited
            return (lane, first.subject.service)
        }
    }

    /// Services at which the run has room that nothing of it needs any more.
    mutating func unusedRooms() -> [PushService] {
        lanes.indices.compactMap { lane in
            guard lanes[lane].room == .granted else { return nil }
            lanes[lane].room = .unknown
            return lanes[lane].service
        }
    }

    // MARK: - Batches

    /// The next batch of a lane, of at most `most` devices, which is under way then.
    ///
    /// - Parameter isSent: what is settled without being sent takes none of the pace.
    mutating func take(_ lane: Int, most: Int = .max, now: Timestamp, isSent: Bool = true) -> Attempt? {
        guard let popped = lanes[lane].attempts.popFirst() else { return nil }
        var attempt = popped.subject
        let count = min(most, pace?.batch(batchSize) ?? batchSize)
        if attempt.count > count { lanes[lane].attempts.insert(attempt.split(after: count), at: popped.moment) }
        if let pace, isSent {
            paceMoment = max(now, paceMoment ?? now) + pace.duration(of: attempt.count)
            turn = (lane + 1) % lanes.count
        }
        lanes[lane].underWay += 1
        if lanes[lane].service?.origin != nil { browserBatches += 1 }
        return attempt
    }

    /// All lanes, the one behind the last that took some of the pace first: services share it by turns.
    var lanesInTurn: [Int] { pace == nil ? Array(lanes.indices) : Array(turn..<lanes.count) + Array(0..<turn) }

    /// Nothing of the lane goes out before `moment`.
    mutating func hold(_ lane: Int, until moment: Timestamp) { lanes[lane].heldUntil = moment }

    /// The lane's next batch waits until `moment`; those behind it do not, for they may be another service's.
    mutating func postpone(_ lane: Int, until moment: Timestamp) {
        guard let popped = lanes[lane].attempts.popFirst() else { return }
        lanes[lane].attempts.insert(popped.subject, at: moment)
    }

    mutating func finished(_ lane: Int) {
        lanes[lane].underWay -= 1
        if lanes[lane].service?.origin != nil { browserBatches -= 1 }
    }

    var isUnderWay: Bool { lanes.contains { $0.underWay > 0 } }

    func isIdle(_ lane: Int) -> Bool { lanes[lane].underWay == 0 }

    /// The first moment at which a lane that has room has something to do; nil where none has.
    var nextMoment: Timestamp? { lanes.indices.lazy.compactMap { next($0)?.moment }.min() }

    /// The first one after a moment at which all lanes were looked at. What waits although its moment has come is woken by something else.
    func alarm(after moment: Timestamp) -> Timestamp? {
        lanes.indices.lazy.compactMap { next($0)?.moment }.filter { $0 > moment }.min()
    }

    /// What a lane does next.
    struct Next: Sendable {
        var service: PushService
        var group: Int
        var moment: Timestamp
        /// Nothing of them is tried later than that; nil where nothing was tried yet.
        var lastMoment: Timestamp?

        var isFirst: Bool { lastMoment == nil }
    }

    func next(_ lane: Int) -> Next? {
        let most = lanes[lane].service?.origin != nil && browserBatches >= Self.manyBrowserBatches ? 1 : mostUnderWay
        guard lanes[lane].underWay < most, let (moment, attempt) = lanes[lane].attempts.first else { return nil }
        return Next(
            service: attempt.service, group: attempt.group, moment: max(moment, lanes[lane].heldUntil ?? moment, paceMoment ?? moment),
            lastMoment: attempt.lastMoment)
    }

    /// What a lane's next devices were told last, where they were tried in this run; as many as `take` gives.
    func nextResults(_ lane: Int) -> [SettledTarget] {
        guard case .again(let waiting)? = lanes[lane].attempts.first?.subject.members else { return [] }
        return waiting.prefix(pace?.batch(batchSize) ?? batchSize).map { SettledTarget(order: Int($0.member), result: $0.result) }
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

    /// Takes everything that is left out of the lanes, in order, and what is in none.
    mutating func drain() -> [(moment: Timestamp, attempt: Attempt)] {
        var left: [(moment: Timestamp, attempt: Attempt)] = []
        for lane in lanes.indices {
            let held = lanes[lane].heldUntil
            while let (moment, attempt) = lanes[lane].attempts.popFirst() { left.append((max(moment, held ?? moment), attempt)) }
        }
        for (group, members) in unsorted {
            left.append((start, Attempt(group: group, service: .others, number: 1, members: .first(members))))
        }
        unsorted = []
        return left
    }
}

/// How a run of deliveries came to its end.
enum DeliveryEnd: Sendable {
    /// Every target has its verdict.
    case done
    /// It was cancelled. Of these targets nobody was told: a service had put some off, with what it said, and of the others nothing
    /// is known.
    case cutOff(open: [SettledTarget], rest: [(group: RecipientGroup, members: [UInt32])], duplicates: [UInt32])
    /// What is left has to wait, and nothing is under way.
    case putOff(Patience)
}

/// Why a notification that has not ended gives its place to others.
enum Delay: Sendable {
    /// Push services have put off some of its devices.
    case service(Patience)
    /// Hooks hold some of its devices, and the others have their verdicts.
    case held(id: String, until: Timestamp)
}

/// What a notification waits for whose push services have put off some of its devices.
struct Patience: Sendable, Equatable {
    struct Wait: Sendable, Equatable {
        /// Which attempt comes next.
        var number: Int
        var moment: Timestamp
    }

    /// When it was sent for the first time: for those who look at the clock.
    var began: Timestamp
    /// The same, and all moments, in the time that nobody sets.
    var start: Timestamp
    var services: [PushService: Wait]
    /// When the first of those that hooks hold may go on; nil where they hold none.
    var heldUntil: Timestamp?
}

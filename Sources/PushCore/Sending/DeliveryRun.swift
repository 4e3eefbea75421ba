/// The work that is left of one notification: batches for its push services, each at its moment.
struct DeliveryRun: Sendable {
    /// A batch on its way: some members of a group, for the first time or again, each with what it was told before.
    struct Attempt: Sendable {
        var group: Int
        var number: Int
        /// Nothing is tried again later than that; nil before the first attempt.
        var lastMoment: Timestamp?
        var waiting: [(member: Int, result: DeliveryResult?)]
    }

    /// What is done one after the other: a platform's batches, or all of them where nothing is side by side.
    struct Lane: Sendable {
        var attempts = TimeQueue<Attempt>()
        /// Of the batch that is under way.
        var isBusy = false
        /// The service is left in peace until then.
        var heldUntil: Timestamp?
    }

    let id: String
    let options: PushOptions
    let groups: [RenderedGroup]
    let start: Timestamp
    /// Whoever sends a test waits for the verdicts: the first one is the last.
    let isTest: Bool
    /// Different for every notification.
    let seed: UInt64
    private(set) var lanes: [Lane] = []
    private var laneOfPlatform: [Platform: Int] = [:]
    private let isSideBySide: Bool
    private let step: Int
    private let pace: Pace?
    /// Before that the pace lets nobody go.
    private var paceMoment: Timestamp?
    /// Platforms that refuse the hub's credential, with what they say.
    var refusals: [Platform: Rejection] = [:]

    /// - Parameters:
    ///   - request: Whose work it is.
    ///   - start: When the first device had its first attempt, or has it now.
    ///   - step: Most devices of a batch.
    init(id: String, request: NotificationRequest, groups: [RenderedGroup], start: Timestamp, step: Int, isSideBySide: Bool) {
        self.id = id
        self.groups = groups
        self.start = start
        options = request.options
        isTest = request.isTest
        seed = id.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        pace = request.pace
        self.step = step
        self.isSideBySide = isSideBySide
    }

    /// Gives a group its first attempt of this run, in batches.
    ///
    /// - Parameter lastMoment: of a group that was tried before.
    mutating func begin(_ group: Int, number: Int, at moment: Timestamp, lastMoment: Timestamp? = nil) {
        let count = groups[group].targets.count
        for first in stride(from: 0, to: count, by: step) {
            let members = first..<min(first + step, count)
            insert(Attempt(group: group, number: number, lastMoment: lastMoment, waiting: members.map { ($0, nil) }), at: moment)
        }
    }

    mutating func insert(_ attempt: Attempt, at moment: Timestamp) {
        let platform = groups[attempt.group].platform
        let lane = isSideBySide ? laneOfPlatform[platform] : lanes.indices.first
        if let lane {
            lanes[lane].attempts.insert(attempt, at: moment)
        } else {
            var lane = Lane()
            lane.attempts.insert(attempt, at: moment)
            laneOfPlatform[platform] = lanes.count
            lanes.append(lane)
        }
    }

    /// The next batch of a lane, of at most `most` devices, which is busy with it then.
    mutating func take(_ lane: Int, most: Int = .max, now: Timestamp) -> Attempt? {
        guard let (moment, whole) = lanes[lane].attempts.first else { return nil }
        _ = lanes[lane].attempts.popFirst()
        var attempt = whole
        let count = min(most, pace?.batch(step) ?? step)
        if attempt.waiting.count > count {
            attempt.waiting = Array(whole.waiting.prefix(count))
            var rest = whole
            rest.waiting.removeFirst(count)
            lanes[lane].attempts.insert(rest, at: moment)
        }
        if let pace { paceMoment = max(now, paceMoment ?? now) + pace.duration(of: attempt.waiting.count) }
        lanes[lane].isBusy = true
        return attempt
    }

    /// Nothing of the lane goes out before `moment`.
    mutating func hold(_ lane: Int, until moment: Timestamp) { lanes[lane].heldUntil = moment }

    mutating func finished(_ lane: Int) { lanes[lane].isBusy = false }

    var isUnderWay: Bool { lanes.contains(where: \.isBusy) }

    /// The first moment at which a lane that is idle has something to do; nil where none has.
    var nextMoment: Timestamp? { lanes.indices.lazy.compactMap { next($0)?.moment }.min() }

    /// What a lane does next.
    struct Next: Sendable {
        var platform: Platform
        var moment: Timestamp
        /// Nothing was tried with these devices yet.
        var isFirst: Bool
    }

    func next(_ lane: Int) -> Next? {
        guard !lanes[lane].isBusy, let (moment, attempt) = lanes[lane].attempts.first else { return nil }
        return Next(
            platform: groups[attempt.group].platform, moment: max(moment, lanes[lane].heldUntil ?? moment, paceMoment ?? moment),
            isFirst: attempt.lastMoment == nil)
    }

    func batch(_ attempt: Attempt) -> DeliveryBatch {
        let group = groups[attempt.group]
        return DeliveryBatch(
            notificationID: id, platform: group.platform, body: group.body, headers: group.headers, options: options,
            handles: attempt.waiting.map { group.targets[$0.member].handle })
    }

    /// Takes everything that is left out of the lanes, in order.
    mutating func drain() -> [(moment: Timestamp, attempt: Attempt)] {
        var left: [(moment: Timestamp, attempt: Attempt)] = []
        for lane in lanes.indices {
            let held = lanes[lane].heldUntil
            while let (moment, attempt) = lanes[lane].attempts.popFirst() { left.append((max(moment, held ?? moment), attempt)) }
        }
        return left
    }
}

/// How a run of deliveries came to its end.
enum DeliveryEnd: Sendable {
    /// Every target has its verdict.
    case done
    /// It was cancelled. These targets a service had put off, with what it said; nobody was told of them.
    case cutOff([SettledTarget])
    /// What is left has to wait, and nothing is under way.
    case putOff(Patience)
}

/// What a notification waits for whose push services have put off some of its devices.
struct Patience: Sendable, Equatable {
    struct Wait: Sendable, Equatable {
        /// Which attempt comes next.
        var number: Int
        var moment: Timestamp
    }

    /// When it was sent for the first time.
    var start: Timestamp
    var platforms: [Platform: Wait]

    /// When something can be done again, where services say when.
    var moment: Timestamp? { platforms.values.lazy.map(\.moment).min() }
}

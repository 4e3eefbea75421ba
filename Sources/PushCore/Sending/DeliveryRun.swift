/// The work that is left of one notification: batches for its push services, each at its moment.
struct DeliveryRun: Sendable {
    /// A batch on its way: some members of a group, for the first time or again, each with what it was told before.
    struct Attempt: Sendable {
        var group: Int
        var number: Int
        var waiting: [(member: Int, result: DeliveryResult?)]
    }

    /// What is done one after the other: a platform's batches, or all of them where nothing is side by side.
    struct Lane: Sendable {
        var attempts = TimeQueue<Attempt>()
        /// Of the batch that is under way.
        var isBusy = false
    }

    let id: String
    let options: PushOptions
    let groups: [RenderedGroup]
    /// Nothing is tried again later than that.
    let lastMoment: Timestamp
    private(set) var lanes: [Lane] = []
    private var laneOfPlatform: [Platform: Int] = [:]
    private let isSideBySide: Bool

    init(id: String, options: PushOptions, groups: [RenderedGroup], lastMoment: Timestamp, isSideBySide: Bool) {
        self.id = id
        self.options = options
        self.groups = groups
        self.lastMoment = lastMoment
        self.isSideBySide = isSideBySide
    }

    /// Gives a group its first attempt of this run, in batches of `step` handles.
    mutating func begin(_ group: Int, number: Int, at moment: Timestamp, step: Int) {
        let count = groups[group].targets.count
        for first in stride(from: 0, to: count, by: step) {
            let members = first..<min(first + step, count)
            insert(Attempt(group: group, number: number, waiting: members.map { ($0, nil) }), at: moment)
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

    /// The next batch of a lane, which is busy with it then.
    mutating func take(_ lane: Int) -> Attempt? {
        guard let attempt = lanes[lane].attempts.popFirst()?.subject else { return nil }
        lanes[lane].isBusy = true
        return attempt
    }

    mutating func finished(_ lane: Int) { lanes[lane].isBusy = false }

    var isUnderWay: Bool { lanes.contains(where: \.isBusy) }

    /// The first moment at which a lane that is idle has something to do; nil where none has.
    var nextMoment: Timestamp? { lanes.lazy.filter { !$0.isBusy }.compactMap(\.attempts.first?.moment).min() }

    /// The platform of the lane's next batch, and its moment.
    func next(_ lane: Int) -> (platform: Platform, moment: Timestamp)? {
        guard !lanes[lane].isBusy, let (moment, attempt) = lanes[lane].attempts.first else { return nil }
        return (groups[attempt.group].platform, moment)
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
            while let (moment, attempt) = lanes[lane].attempts.popFirst() { left.append((moment, attempt)) }
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

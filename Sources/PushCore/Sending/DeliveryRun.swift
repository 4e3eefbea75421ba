/// The work that is left of one notification: batches for its push services, each at its moment.
struct DeliveryRun: Sendable {
    /// Some members of a group whose turn comes, for the first time or again.
    struct Attempt: Sendable {
        enum Members: Sendable {
            /// By their numbers in the group.
            case first(Range<Int>)
            /// As in the group, each with what it was told before.
            case again([(member: UInt32, result: DeliveryResult)])
        }

        var group: Int
        var number: Int
        var members: Members
    }

    /// An attempt on its way, with those who stand at its targets.
    struct Batch: Sendable {
        var attempt: Attempt
        var members: [UInt32]
        var recipients: [Recipient]
        /// Those that have left since the send began.
        var left: [SettledTarget]
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
        let count = groups[group].members.count
        for first in stride(from: 0, to: count, by: step) {
            insert(Attempt(group: group, number: number, members: .first(first..<min(first + step, count))), at: moment)
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

    func members(of attempt: Attempt) -> [UInt32] {
        switch attempt.members {
        case .first(let range): Array(groups[attempt.group].members[range])
        case .again(let waiting): waiting.map(\.member)
        }
    }

    /// - Parameter recipients: who stands at the members of the attempt, in their order.
    func batch(_ attempt: Attempt, of recipients: [Recipient]) -> Batch {
        var batch = Batch(attempt: attempt, members: [], recipients: [], left: [])
        let size = groups[attempt.group].body.count
        for (member, recipient) in zip(members(of: attempt), recipients) {
            guard recipient.hasLeft else {
                batch.members.append(member)
                batch.recipients.append(recipient)
                continue
            }
            let device = recipient.outcome(.skipped, reason: "", "the registration left before its turn came", size: size)
            batch.left.append(SettledTarget(order: Int(member), result: DeliveryResult(device: device)))
        }
        return batch
    }

    func work(_ batch: Batch) -> DeliveryBatch {
        let group = groups[batch.attempt.group]
        return DeliveryBatch(
            notificationID: id, platform: group.platform, body: group.body, headers: group.headers, options: options,
            handles: batch.recipients.map(\.handle))
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
    /// It was cancelled. Of these targets nobody was told: a service had put some off, with what it said, and of the others nothing
    /// is known.
    case cutOff(open: [SettledTarget], rest: [(group: RecipientGroup, members: [UInt32])])
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

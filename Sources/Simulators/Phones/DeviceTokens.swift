import Synchronization

/// The owner of an APNs device token.
enum TokenOwner {
    case phone(HandleRecord)
    /// A counted phone, at this index.
    case member(Int)
    /// A counted phone with another app.
    case otherApp
    /// Unknown, or of a phone in the other environment.
    case unknown
    /// Unknown, and the lab has reached its limit.
    case labFull
}

/// The device tokens of a lab, of full phones and of counted ones: iPhones so numerous that only their pushes are counted.
struct DeviceTokens {
    let lab: PhoneLab

    /// Returns the owner of a token. An unknown token of 32 bytes or more may be adopted.
    func owner(of token: String, app: String, environment: APNsEnvironment) -> TokenOwner {
        let now = lab.clock.now()
        return lab.state.withLock { state in
            if let record = state.handles[token] { return lab.isOutOfMemory(state) ? .labFull : .phone(record) }
            let crowdToken = lab.adoption.fullPhoneLimit == nil ? nil : CountedPhoneToken(token)
            if let memberIndex = crowdToken.flatMap({ state.countedPhones.memberIndex(of: $0) }) {
                let kind = state.countedPhones.kind(at: memberIndex)
                guard kind.environment == environment else { return .unknown }
                return kind.app == app ? .member(memberIndex) : .otherApp
            }
            guard lab.adoption.isEnabled, (64...200).contains(token.utf8.count) else { return .unknown }
            guard lab.canAdopt(state), !lab.isOutOfMemory(state) else { return .labFull }
            if let crowdToken, state.phones.count >= lab.adoption.fullPhoneLimit ?? .max {
                return state.countedPhones.join(crowdToken, .init(app: app, environment: environment)).map { .member($0) } ?? .labFull
            }
            return .phone(state.adopt(token, as: Self.iPhone(token, app, environment), now: now))
        }
    }

    /// Counts a push to a counted phone for the rate limit; returns `false` if it exceeds `limit` per minute.
    func admit(_ member: Int, limit: Int) -> Bool {
        let minute = lab.clock.now() / 60_000
        return lab.state.withLock { $0.countedPhones.admit(member, minute: minute, limit: limit) }
    }

    /// Counts an accepted push to a counted phone.
    func count(_ member: Int) { lab.state.withLock { $0.countedPhones.addPush(member) } }

    /// Turns a counted phone, or an unknown token, into a full phone, named after its token by default. Returns `nil` if the name is taken
    /// by a phone with the app, or the token by another phone.
    func meet(
        token: String, name: String? = nil, app: String, environment: APNsEnvironment
    ) -> PhoneID? {
        let now = lab.clock.now()
        let (phone, actions) = lab.state.withLock { state -> (PhoneID?, [@Sendable () -> Void]) in
            guard state.handles[token] == nil else { return (nil, []) }
            let (isFree, actions) = state.free(name ?? token, now: now)
            guard isFree else { return (nil, actions) }
            var description = Self.iPhone(token, app, environment)
            if let name { description.name = name }
            if let memberIndex = CountedPhoneToken(token).flatMap({ state.countedPhones.memberIndex(of: $0) }) {
                let kind = state.countedPhones.kind(at: memberIndex)
                (description.app.id, description.app.environment) = (kind.app, kind.environment)
                state.countedPhones.remove(memberIndex)
            }
            return (state.adopt(token, as: description, now: now).phone, actions)
        }
        for action in actions { action() }
        return phone
    }

    /// Turns a counted phone into a full phone; returns `nil` for any other token.
    func meet(member token: String) -> PhoneID? {
        let kind = lab.state.withLock { state in
            CountedPhoneToken(token).flatMap { state.countedPhones.memberIndex(of: $0) }.map { state.countedPhones.kind(at: $0) }
        }
        return kind.flatMap { meet(token: token, app: $0.app, environment: $0.environment) }
    }

    private static func iPhone(_ token: String, _ app: String, _ environment: APNsEnvironment) -> PhoneDescription {
        PhoneDescription(name: token, platform: .apns, app: PhoneApp(app, environment: environment))
    }

    /// The number of counted phones, their total pushes, and a histogram: number of phones with none, one, … pushes; the last value counts
    /// all with as many or more.
    var statistics: (members: Int, pushes: Int, byPushes: [Int]) {
        lab.state.withLock { ($0.countedPhones.count, $0.countedPhones.pushes, $0.countedPhones.statistics(upTo: 8)) }
    }
}

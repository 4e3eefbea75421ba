import Synchronization

/// Whose a device token of APNs is.
enum Addressee {
    case phone(HandleRecord)
    /// One of the crowd, at this place.
    case member(Int)
    /// One of the crowd, with another app.
    case otherApp
    /// Nobody's, or that of a phone in the other environment.
    case stranger
    /// Nobody's, and the lab has no room for another phone.
    case noRoom
}

/// The lab's crowd: so many iPhones that each is only counted.
extension PhoneLab {
    /// Whose a token is. One that devices could have, 32 bytes or more, may be adopted.
    func addressee(ofToken token: String, app: String, environment: APNsEnvironment) -> Addressee {
        let now = clock.now()
        return state.withLock { state in
            if let record = state.handles[token] { return isOutOfMemory(state) ? .noRoom : .phone(record) }
            let crowdToken = closeCircle == nil ? nil : CrowdToken(token)
            if let place = crowdToken.flatMap({ state.crowd.place(of: $0) }) {
                let kind = state.crowd.kind(at: place)
                guard kind.environment == environment else { return .stranger }
                return kind.app == app ? .member(place) : .otherApp
            }
            guard adoptsHandles, (64...200).contains(token.utf8.count) else { return .stranger }
            guard hasRoom(state), !isOutOfMemory(state) else { return .noRoom }
            if let crowdToken, state.phones.count >= closeCircle ?? .max {
                return state.crowd.join(crowdToken, .init(app: app, environment: environment)).map { .member($0) } ?? .noRoom
            }
            return .phone(state.adopt(token, as: Self.iPhone(token, app, environment), now: now))
        }
    }

    /// Counts one more push of this minute to a member; false when that is more than `limit`.
    func admit(_ member: Int, limit: Int) -> Bool {
        let minute = clock.now() / 60_000
        return state.withLock { $0.crowd.admit(member, minute: minute, limit: limit) }
    }

    /// A push that the service took for a member.
    func count(_ member: Int) { state.withLock { $0.crowd.addPush(member) } }

    /// Makes a phone in full of one of the crowd, or of an iPhone that nobody knew, named after its token unless it is given a
    /// name; nil where there is a phone of that name with the app, or of that token, already.
    func meet(
        token: String, name: String? = nil, app: String, environment: APNsEnvironment
    ) -> PhoneID? {
        let now = clock.now()
        let (phone, actions) = state.withLock { state -> (PhoneID?, [@Sendable () -> Void]) in
            guard state.handles[token] == nil else { return (nil, []) }
            let (isFree, actions) = state.free(name ?? token, now: now)
            guard isFree else { return (nil, actions) }
            var description = Self.iPhone(token, app, environment)
            if let name { description.name = name }
            if let place = CrowdToken(token).flatMap({ state.crowd.place(of: $0) }) {
                let kind = state.crowd.kind(at: place)
                (description.app, description.environment) = (kind.app, kind.environment)
                state.crowd.remove(place)
            }
            return (state.adopt(token, as: description, now: now).phone, actions)
        }
        for action in actions { action() }
        return phone
    }

    /// The same, of one of the crowd; nil for any other.
    func meet(member token: String) -> PhoneID? {
        let kind = state.withLock { state in
            CrowdToken(token).flatMap { state.crowd.place(of: $0) }.map { state.crowd.kind(at: $0) }
        }
        return kind.flatMap { meet(token: token, app: $0.app, environment: $0.environment) }
    }

    private static func iPhone(_ token: String, _ app: String, _ environment: APNsEnvironment) -> PhoneDescription {
        PhoneDescription(name: token, platform: .apns, app: app, environment: environment)
    }

    /// How many are in the crowd, what they got, and how many of them got none, one, … pushes; the last number counts all
    /// that got as many or more.
    var census: (members: Int, pushes: Int, byPushes: [Int]) {
        state.withLock { ($0.crowd.count, $0.crowd.pushes, $0.crowd.census(upTo: 8)) }
    }
}

import Synchronization

/// The devices of one platform that are about to get a notification, as hooks see them, with what these rule about them.
///
/// They are held as numbers alone: places of registrations, which are nobody else's as long as the run lasts, or numbers of handles.
/// What else is asked of them the hub answers.
final class DeliveryGroup: HookedGroup {
    /// Devices that share a fate.
    struct Ruled: Sendable {
        var fate: DeliveryRuling.Fate
        /// For people.
        var reason: String
        var devices: PlaceSet
    }

    private struct State {
        /// Those about which nothing was ruled.
        var open: PlaceSet
        var ruled: [Ruled] = []
    }

    let notificationID: String
    let request: NotificationRequest
    let platform: Platform
    let isDirect: Bool
    let origin: [String]
    private let service: NotificationHub
    private let state: Mutex<State>

    /// - Parameter members: in ascending order, as in `Targets`.
    init(
        _ members: [UInt32], on platform: Platform, isDirect: Bool, of kept: KeptNotification, origin: [String], service: NotificationHub
    ) {
        notificationID = kept.outcome.id
        request = kept.request
        (self.platform, self.isDirect, self.origin, self.service) = (platform, isDirect, origin, service)
        state = Mutex(State(open: PlaceSet(members)))
    }

    var hub: String { service.name }

    private var open: PlaceSet { state.withLock { $0.open } }

    var count: Int { open.count }

    func counts(of tags: [Tag]) async -> [Int] {
        isDirect ? tags.map { _ in 0 } : await service.counts(of: tags, among: open)
    }

    func devices(after number: UInt32?, limit: Int) async -> [HookedDevice] {
        let limit = min(limit, 1_000)
        var next = RegistrationTable.first(behind: number)
        while limit > 0, let first = next {
            let numbers = open.places(from: first, count: limit)
            if isDirect { return numbers.map { HookedDevice(number: $0) } }
            let devices = await service.hookedDevices(at: numbers)
            // Where a whole page has left, those behind it are next: an empty answer says that there are none.
            if !devices.isEmpty || numbers.count < limit { return devices }
            next = RegistrationTable.first(behind: numbers.last)
        }
        return []
    }

    func rule(_ rulings: [DeliveryRuling]) async -> [Int] {
        let tags = rulings.compactMap { if case .tagged(let tag) = $0.devices { tag } else { nil } }
        let tagged = isDirect || tags.isEmpty ? [:] : await service.places(of: tags)
        let now = service.environment.clock.now
        return state.withLock { state in
            var passed = PlaceSet()
            return rulings.map { ruling in
                var devices: PlaceSet
                switch ruling.devices {
                case .all: devices = state.open
                case .tagged(let tag): devices = tagged[tag] ?? PlaceSet()
                case .chosen(let numbers): devices = PlaceSet(numbers)
                }
                devices.formIntersection(state.open)
                devices.subtract(passed)
                // What has passed holds nobody.
                if case .hold(let moment) = ruling.fate, moment <= now { return 0 }
                guard !devices.isEmpty else { return 0 }
                guard ruling.fate != .pass else {
                    passed.formUnion(devices)
                    return devices.count
                }
                state.open.subtract(devices)
                // Whoever goes through them page by page says the same of many.
                if let last = state.ruled.last, last.fate == ruling.fate, last.reason == ruling.reason {
                    state.ruled[state.ruled.count - 1].devices.formUnion(devices)
                } else {
                    state.ruled.append(Ruled(fate: ruling.fate, reason: ruling.reason, devices: devices))
                }
                return devices.count
            }
        }
    }

    /// What was ruled, and about whom nothing was; nothing can be ruled any more.
    func close() -> (ruled: [Ruled], open: PlaceSet) {
        state.withLock { state in
            defer { state = State(open: PlaceSet()) }
            return (state.ruled, state.open)
        }
    }
}

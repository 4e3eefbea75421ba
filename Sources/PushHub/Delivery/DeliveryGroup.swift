import PushModel
import Synchronization

/// The devices of one platform that are about to get a notification, as hooks see them, and the decisions of hooks about them.
///
/// Holds only numbers: rows of registrations, which are not reused while the run lasts, or indices of handles. The registrations provide
/// everything else.
final class DeliveryGroup: HookedGroup {
    /// Devices with the same decision.
    struct Ruled: Sendable {
        var decision: DeliveryRuling.Decision
        var reason: HookReason
        var devices: RowSet
    }

    private struct State {
        /// Devices without a decision.
        var open: RowSet
        var ruled: [Ruled] = []
    }

    let notificationID: String
    let request: NotificationRequest
    let platform: Platform
    let isDirect: Bool
    let origin: [String]
    let hub: String
    private let clock: any HubClock
    private let registrations: any HookedRegistrations
    private let state: Mutex<State>

    /// - Parameter members: in ascending order, as in `Targets`.
    init(
        _ members: [UInt32], on platform: Platform, isDirect: Bool, of stored: StoredNotification, hub: String, clock: any HubClock,
        registrations: any HookedRegistrations
    ) {
        notificationID = stored.outcome.id
        request = stored.request
        (self.platform, self.isDirect, origin) = (platform, isDirect, stored.origin)
        (self.hub, self.clock, self.registrations) = (hub, clock, registrations)
        state = Mutex(State(open: RowSet(members)))
    }

    private var open: RowSet { state.withLock { $0.open } }

    var count: Int { open.count }

    func counts(of tags: [Tag]) async -> [Int] {
        isDirect ? tags.map { _ in 0 } : await registrations.counts(of: tags, among: open)
    }

    func devices(after number: UInt32?, limit: Int) async -> [HookedDevice] {
        let limit = min(limit, 1_000)
        var next = RowPager.first(behind: number)
        while limit > 0, let first = next {
            let numbers = open.rows(from: first, count: limit)
            if isDirect { return numbers.map { HookedDevice(number: $0) } }
            let devices = await registrations.hookedDevices(at: numbers)
            // If all devices of a page were removed, the next page follows: an empty result means that there are no more.
            if !devices.isEmpty || numbers.count < limit { return devices }
            next = RowPager.first(behind: numbers.last)
        }
        return []
    }

    func rule(_ rulings: [DeliveryRuling]) async -> [Int] {
        let tags = rulings.compactMap { if case .tagged(let tag) = $0.devices { tag } else { nil } }
        let tagged = isDirect || tags.isEmpty ? [:] : await registrations.rowSets(of: tags)
        let now = clock.now
        return state.withLock { state in
            var passed = RowSet()
            return rulings.map { ruling in
                var devices: RowSet
                switch ruling.devices {
                case .all: devices = state.open
                case .tagged(let tag): devices = tagged[tag] ?? RowSet()
                case .chosen(let numbers): devices = RowSet(numbers)
                }
                devices.formIntersection(state.open)
                devices.subtract(passed)
                // A time in the past defers nothing.
                if case .hold(let time) = ruling.decision, time <= now { return 0 }
                guard !devices.isEmpty else { return 0 }
                guard ruling.decision != .pass else {
                    passed.formUnion(devices)
                    return devices.count
                }
                state.open.subtract(devices)
                // A hook that pages through the devices often gives many the same decision.
                if let last = state.ruled.last, last.decision == ruling.decision, last.reason == ruling.reason {
                    state.ruled[state.ruled.count - 1].devices.formUnion(devices)
                } else {
                    state.ruled.append(Ruled(decision: ruling.decision, reason: ruling.reason, devices: devices))
                }
                return devices.count
            }
        }
    }

    /// Ends the decisions. Returns them, and the devices without one.
    func close() -> (ruled: [Ruled], open: RowSet) {
        state.withLock { state in
            defer { state = State(open: RowSet()) }
            return (state.ruled, state.open)
        }
    }
}

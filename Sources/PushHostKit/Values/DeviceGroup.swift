import PushCore

/// The devices of one platform that are about to get a notification. Nothing is known of them one by one unless it is asked for, which
/// costs time for each.
public struct DeviceGroup: Sendable {
    private let base: any HookedGroup

    init(_ base: any HookedGroup) { self.base = base }

    /// One for tests of a hook.
    ///
    /// - Throws: why a text is no tag.
    public init(_ devices: [Device], of notification: NotificationDraft) throws {
        base = FixedGroup(
            hub: notification.base.hub, request: notification.base.request, origin: notification.base.origin,
            all: try devices.map { device in
                HookedDevice(number: device.number, installationID: device.installationID, tags: try device.tags.map { try Tag($0) })
            })
    }

    public var hub: String { base.hub }
    public var notificationID: String { base.notificationID }
    /// `apns`, `fcm`, `gcm`, `wns`, `browser`.
    public var platform: String { base.platform.shortName }
    /// What they are about to get.
    public var notification: NotificationDraft { NotificationDraft(SendDraft(hub: base.hub, request: base.request, origin: base.origin)) }
    /// Whether these are handles without registrations: they have no tags.
    public var isDirect: Bool { base.isDirect }
    /// Devices about which nothing was ruled yet.
    public var count: Int { base.count }

    /// How many of them have each of these tags, in their order. Costs next to nothing for millions of devices. What is no tag is nobody's.
    public func counts(ofTags tags: [String]) async -> [Int] {
        let known = tags.map(Tag.init(validating:))
        var counts = await base.counts(of: known.compactMap { $0 })[...]
        return known.map { $0 == nil ? 0 : counts.popFirst() ?? 0 }
    }

    /// These devices one by one.
    public var devices: Devices { Devices(group: base) }

    public struct Devices: AsyncSequence, Sendable {
        public typealias Element = Device
        public typealias Failure = Never
        let group: any HookedGroup

        public func makeAsyncIterator() -> Iterator { Iterator(group: group) }

        public struct Iterator: AsyncIteratorProtocol {
            let group: any HookedGroup
            private var page: ArraySlice<HookedDevice> = []
            private var last: UInt32?

            private static let pageSize = 1000

            init(group: any HookedGroup) { self.group = group }

            public mutating func next() async -> Device? {
                if page.isEmpty { page = await group.devices(after: last, limit: Self.pageSize)[...] }
                guard let device = page.popFirst() else { return nil }
                last = device.number
                return Device(device)
            }
        }
    }

    /// One of the devices.
    public struct Device: Sendable, Equatable {
        /// What a ruling names it by.
        public let number: UInt32
        public let registrationID: String?
        public let installationID: String?
        public let tags: [String]

        /// One for tests of a hook.
        public init(number: UInt32, installationID: String? = nil, tags: [String] = []) {
            (self.number, registrationID, self.installationID, self.tags) = (number, nil, installationID, tags)
        }

        init(_ base: HookedDevice) {
            number = base.number
            registrationID = base.registrationID?.text
            installationID = base.installationID
            tags = base.tags.map(\.text)
        }
    }
}

/// What is to become of some devices of a group instead of getting the notification now.
public struct Ruling: Sendable, Equatable {
    /// Which of them.
    public enum Devices: Sendable, Equatable {
        case all
        case tag(String)
        /// By their numbers.
        case chosen([UInt32])
    }

    /// What becomes of them.
    public enum Fate: Sendable, Equatable {
        case skip
        /// Until then, in milliseconds since 1970.
        case hold(Int64)
        case pass
    }

    public let devices: Devices
    public let fate: Fate
    /// Why, for people.
    public let reason: String

    private init(devices: Devices, fate: Fate, reason: String) { (self.devices, self.fate, self.reason) = (devices, fate, reason) }

    /// They do not get it. The reason is the explanation of their outcome.
    public static func skip(_ devices: Devices, reason: String) -> Ruling { Ruling(devices: devices, fate: .skip, reason: reason) }

    /// They get it then, in milliseconds since 1970 and at most seven days ahead, and hooks are asked about them once more.
    public static func hold(_ devices: Devices, until moment: Int64, reason: String) -> Ruling {
        Ruling(devices: devices, fate: .hold(moment), reason: reason)
    }

    /// Rulings behind this one are not for them.
    public static func pass(_ devices: Devices) -> Ruling { Ruling(devices: devices, fate: .pass, reason: "") }

    /// Throws what is no tag.
    func base(plugin: String) throws -> DeliveryRuling {
        let devices: DeliveryRuling.Devices =
            switch self.devices {
            case .all: .all
            case .tag(let text): .tagged(try Tag(text))
            case .chosen(let numbers): .chosen(numbers)
            }
        let fate: DeliveryRuling.Fate =
            switch fate {
            case .skip: .skip
            case .hold(let moment): .hold(until: Timestamp(milliseconds: moment))
            case .pass: .pass
            }
        return DeliveryRuling(devices: devices, fate: fate, reason: "\(plugin): \(reason)")
    }
}

/// Devices that a test has made up.
private struct FixedGroup: HookedGroup {
    let hub: String
    let request: NotificationRequest
    let origin: [String]
    let all: [HookedDevice]
    let notificationID = "n-0001"
    let platform = Platform.apns
    let isDirect = false

    var count: Int { all.count }

    func counts(of tags: [Tag]) async -> [Int] { tags.map { tag in all.count { $0.tags.contains(tag) } } }

    func devices(after number: UInt32?, limit: Int) async -> [HookedDevice] {
        Array(all.filter { device in number.map { device.number > $0 } ?? true }.prefix(limit))
    }

    func rule(_ rulings: [DeliveryRuling]) async -> [Int] { rulings.map { _ in 0 } }
}

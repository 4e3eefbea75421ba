import PushModel

/// The devices of one platform that are about to receive a notification. Details of single devices are loaded only on request, at a cost
/// per device.
public struct DeviceGroup: Sendable {
    private let base: any HookedGroup

    init(_ base: any HookedGroup) { self.base = base }

    /// Makes a group, to test a hook.
    ///
    /// - Throws: An error if a tag is invalid.
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
    /// The notification that they are about to receive.
    public var notification: NotificationDraft { NotificationDraft(SendDraft(hub: base.hub, request: base.request, origin: base.origin)) }
    /// Whether the send addresses handles without registrations, which have no tags.
    public var isDirect: Bool { base.isDirect }
    /// Number of devices that no earlier ruling applies to.
    public var count: Int { base.count }

    /// Number of devices with each of these tags, in the order of `tags`. Fast even for millions of devices. Zero for an invalid tag.
    public func counts(ofTags tags: [String]) async -> [Int] {
        let known = tags.map(Tag.init(validating:))
        var counts = await base.counts(of: known.compactMap { $0 })[...]
        return known.map { $0 == nil ? 0 : counts.popFirst() ?? 0 }
    }

    /// The devices, loaded one page after the other.
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

    /// A device of the group.
    public struct Device: Sendable, Equatable {
        /// The number by which a ruling refers to the device.
        public let number: UInt32
        public let registrationID: String?
        public let installationID: String?
        public let tags: [String]

        /// Makes a device, to test a hook.
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

/// A decision that some devices of a group do not receive the notification now.
public struct Ruling: Sendable, Equatable {
    /// The devices of the group that a ruling is for.
    public enum Devices: Sendable, Equatable {
        case all
        case tag(String)
        /// The devices with these numbers.
        case chosen([UInt32])
    }

    /// The fate of the devices.
    public enum Fate: Sendable, Equatable {
        case skip
        /// Deliver at this time, in milliseconds since 1970.
        case hold(Int64)
        case pass
    }

    public let devices: Devices
    public let fate: Fate
    /// The reason shown to people.
    public let reason: String

    private init(devices: Devices, fate: Fate, reason: String) { (self.devices, self.fate, self.reason) = (devices, fate, reason) }

    /// Skips devices: they do not receive the notification. The reason is shown with their outcome.
    public static func skip(_ devices: Devices, reason: String) -> Ruling { Ruling(devices: devices, fate: .skip, reason: reason) }

    /// Delivers to devices later, at a time in milliseconds since 1970 that is at most seven days ahead. Hooks are called for them again
    /// then.
    public static func hold(_ devices: Devices, until time: Int64, reason: String) -> Ruling {
        Ruling(devices: devices, fate: .hold(time), reason: reason)
    }

    /// Exempts devices from later rulings.
    public static func pass(_ devices: Devices) -> Ruling { Ruling(devices: devices, fate: .pass, reason: "") }

    /// Throws if a tag is invalid.
    func base(plugin: String) throws -> DeliveryRuling {
        let devices: DeliveryRuling.Devices =
            switch self.devices {
            case .all: .all
            case .tag(let text): .tagged(try Tag(text))
            case .chosen(let numbers): .chosen(numbers)
            }
        let decision: DeliveryRuling.Decision =
            switch fate {
            case .skip: .skip
            case .hold(let time): .hold(until: Timestamp(milliseconds: time))
            case .pass: .pass
            }
        return DeliveryRuling(devices: devices, decision: decision, plugin: plugin, reason: reason)
    }
}

/// Test devices.
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

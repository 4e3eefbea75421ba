import PushModel

/// The push service of a platform. Browsers have many, identified by their origins; they fail and recover independently.
struct PushService: Hashable, Sendable, Comparable {
    var platform: Platform
    /// Scheme, host and port of browsers' endpoints. Nil for other platforms, and for browsers in sequential delivery.
    var origin: String?

    init(_ platform: Platform, origin: String? = nil) { (self.platform, self.origin) = (platform, origin) }

    /// Push services of browsers without a lane of their own.
    static let others = PushService(.browser, origin: "")

    /// Whether this is a single service, which fails or responds as a whole.
    var isOne: Bool { self != .others }

    /// Scheme, host and port of a browser's endpoint; nil for other handles.
    static func origin(of handle: DeviceHandle) -> Substring? {
        guard case .browser(let endpoint, _, _) = handle else { return nil }
        guard let host = endpoint.firstRange(of: "://")?.upperBound else { return endpoint[...] }
        let end = endpoint.utf8[host...].firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let origin = endpoint[..<(end ?? endpoint.endIndex)]
        // Endpoints come from devices and may differ in case.
        return origin.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ? origin.lowercased()[...] : origin
    }

    static func < (one: PushService, other: PushService) -> Bool {
        (one.platform, one.origin ?? "") < (other.platform, other.origin ?? "")
    }
}

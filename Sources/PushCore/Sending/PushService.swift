/// Who takes the pushes of a platform. Browsers have many push services, which are told apart by their origins: what one of them
/// does is no matter of the others.
struct PushService: Hashable, Sendable, Comparable {
    var platform: Platform
    /// Scheme, host and port of browsers' endpoints. Nil for other platforms, and for browsers where they are not told apart.
    var origin: String?

    init(_ platform: Platform, origin: String? = nil) { (self.platform, self.origin) = (platform, origin) }

    /// Those that a notification has no lane for.
    static let others = PushService(.browser, origin: "")

    /// Whether it is one that fails or answers as a whole.
    var isOne: Bool { self != .others }

    /// Scheme, host and port of a browser's endpoint; nil of another handle.
    static func origin(of handle: DeviceHandle) -> Substring? {
        guard case .browser(let endpoint, _, _) = handle else { return nil }
        guard let host = endpoint.firstRange(of: "://")?.upperBound else { return endpoint[...] }
        let end = endpoint.utf8[host...].firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let origin = endpoint[..<(end ?? endpoint.endIndex)]
        // Devices choose the spelling; it is no other service.
        return origin.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ? origin.lowercased()[...] : origin
    }

    static func < (one: PushService, other: PushService) -> Bool {
        (one.platform, one.origin ?? "") < (other.platform, other.origin ?? "")
    }
}

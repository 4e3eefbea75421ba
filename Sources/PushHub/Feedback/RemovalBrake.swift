import PushModel

/// Limits how many devices one notification may remove from its hub, so that a wrong environment or a faulty push service does not empty
/// it. Removals beyond the limit are held.
///
/// Audiences below 1,000 devices are not limited, because there a few removals are a large share.
struct RemovalBrake: Sendable {
    static let smallestAudience = 1_000

    /// Maximum number of removed devices; nil for no limit.
    private let limit: Int?
    private var removed: Int
    /// Whether there is a limit.
    var isLimited: Bool { limit != nil }
    /// Number of held removals.
    private(set) var held = 0

    /// Creates a brake without a limit.
    init() { (limit, removed) = (nil, 0) }

    /// - Parameters:
    ///   - share: 0 to 1; 1 for no limit.
    ///   - audience: devices of the notification, including those with results.
    ///   - removed: devices that the notification has removed so far.
    init(share: Double, audience: Int, removed: Int) {
        limit = share < 1 && audience >= Self.smallestAudience ? Int(share * Double(audience)) : nil
        self.removed = removed
    }

    /// Whether one more device may be removed. Otherwise its removal is held.
    mutating func admitsRemoval() -> Bool {
        if let limit, removed >= limit {
            held += 1
            return false
        }
        removed += 1
        return true
    }
}

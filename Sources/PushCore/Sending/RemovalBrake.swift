/// Limits how many devices one notification may remove from its hub, so that a wrong environment or a push service out of order does not
/// empty it. Removals beyond the limit are held.
///
/// Audiences of less than 1,000 devices are not limited: there a few removals are a large share.
struct RemovalBrake: Sendable {
    static let smallestAudience = 1_000

    /// Most devices that may be removed; nil for any number.
    private let limit: Int?
    private var removed: Int
    /// Whether there is a limit.
    var isLimited: Bool { limit != nil }
    /// Removals that were held.
    private(set) var held = 0

    /// Without a limit.
    init() { (limit, removed) = (nil, 0) }

    /// - Parameters:
    ///   - share: 0 to 1; 1 for no limit.
    ///   - audience: devices of the notification, those included that have their result already.
    ///   - removed: devices that the notification has removed already.
    init(share: Double, audience: Int, removed: Int) {
        limit = share < 1 && audience >= Self.smallestAudience ? Int(share * Double(audience)) : nil
        self.removed = removed
    }

    /// Whether one device more may be removed; else its removal is held.
    mutating func admitsRemoval() -> Bool {
        if let limit, removed >= limit {
            held += 1
            return false
        }
        removed += 1
        return true
    }
}

import Lua

/// The sends of a run: counts, and the scheduled notifications that are not counted yet.
struct SendLog: Sendable {
    var delivered = 0
    private(set) var noTargets = 0
    /// Audience and line of the first send that reached no device.
    private(set) var firstNoTarget: (audience: String, location: SourceLocation?)?
    /// Whether the test allows sends that reach no device.
    var allowsNoTarget = false
    var planned = PlannedSends()

    mutating func noteNoTarget(_ audience: String, _ location: SourceLocation?) {
        noTargets += 1
        if firstNoTarget == nil { firstNoTarget = (audience, location) }
    }

    /// Adds the sends of a nested run.
    mutating func absorb(_ inner: SendLog) {
        delivered += inner.delivered
        noTargets += inner.noTargets
        firstNoTarget = firstNoTarget ?? inner.firstNoTarget
        planned.append(contentsOf: inner.planned)
    }
}

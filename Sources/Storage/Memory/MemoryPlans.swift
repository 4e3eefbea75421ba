import PushModel

/// The plans of a hub, with the parts that contain their devices.
struct MemoryPlans {
    private(set) var last: Int64 = 0
    private var plans: [Int64: (plan: StoredPlan, parts: [[UInt8]])] = [:]

    subscript(number: Int64) -> StoredPlan? { plans[number]?.plan }

    /// All plans, newest first.
    var newestFirst: [StoredPlan] { plans.values.map(\.plan).sorted { $0.number > $1.number } }

    mutating func add(_ plan: StoredPlan, parts: [[UInt8]]) -> Int64 {
        last += 1
        var stored = plan
        stored.number = last
        stored.report.id = stored.id
        plans[stored.number] = (stored, parts)
        return stored.number
    }

    func part(_ part: Int, of number: Int64) -> [UInt8]? {
        guard let parts = plans[number]?.parts, parts.indices.contains(part) else { return nil }
        return parts[part]
    }

    /// - Parameter bound: numbers of plans that are not removed.
    mutating func remove(madeBefore time: Timestamp, beyond newest: Int, limit: Int, except bound: Set<Int64>) -> Int {
        let old = newestFirst.enumerated().filter { index, plan in
            (index >= newest || plan.report.plannedAt < time) && !bound.contains(plan.number)
        }
        let removed = old.reversed().prefix(limit)
        for (_, plan) in removed { plans[plan.number] = nil }
        return removed.count
    }
}

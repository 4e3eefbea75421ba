import PushModel

/// The plans of a hub, with the parts that contain their devices.
struct MemoryPlans {
    fileprivate(set) var last: Int64 = 0
    fileprivate var plans: [Int64: (plan: StoredPlan, parts: [[UInt8]])] = [:]

    func contains(_ number: Int64) -> Bool { plans[number] != nil }
}

extension MemoryHubStore: PlanStore {
    package func addPlan(_ plan: StoredPlan, parts: [[UInt8]]) -> Int64 {
        self.plans.last += 1
        var kept = plan
        kept.number = self.plans.last
        kept.report.id = kept.id
        self.plans.plans[kept.number] = (kept, parts)
        return kept.number
    }

    package func lastPlan() -> Int64 { plans.last }

    package func plan(_ number: Int64) -> StoredPlan? { plans.plans[number]?.plan }

    package func plans(before number: Int64?, limit: Int) -> [StoredPlan] {
        Array(newestFirst.filter { $0.number < number ?? .max }.prefix(limit))
    }

    package func latestPlan(of subject: String) -> StoredPlan? { newestFirst.first { $0.subject == subject } }

    package func planPart(_ number: Int64, part: Int) -> [UInt8]? {
        guard let parts = plans.plans[number]?.parts, parts.indices.contains(part) else { return nil }
        return parts[part]
    }

    package func notifications(ofPlan number: Int64, limit: Int) -> [String] {
        Array(notifications.ids(ofPlan: number).prefix(limit))
    }

    package func removePlans(madeBefore moment: Timestamp, beyond newest: Int, limit: Int) -> Int {
        let bound = notifications.boundPlans
        let old = newestFirst.enumerated().filter { place, plan in
            (place >= newest || plan.report.plannedAt < moment) && !bound.contains(plan.number)
        }
        let removed = old.reversed().prefix(limit)
        for (_, plan) in removed { plans.plans[plan.number] = nil }
        return removed.count
    }

    private var newestFirst: [StoredPlan] { plans.plans.values.map(\.plan).sorted { $0.number > $1.number } }
}

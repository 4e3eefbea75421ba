import PushModel

/// Explains, as text, why a send found no device.
///
/// Not thread-safe: it is part of the actor that owns the directory.
struct NearMissFinder {
    let directory: RegistrationDirectory

    func sentences(for request: NotificationRequest) async -> [String] {
        if let plan = request.plan {
            let stored = try? await directory.store.plan(PlanID.number(of: plan.id) ?? 0)
            if let stored, stored.members == 0 { return ["the plan \(plan.id) has no devices"] + stored.report.nearMisses }
            return ["no device of plan \(plan.id) is still registered"]
        }
        await directory.unindexExpired()
        let isMissing = (request.audience.expression?.tags ?? []).contains { directory.table.index.count(of: $0) == 0 }
        let names = isMissing ? await TagCatalogue(directory: directory).comparableNames() : []
        return NearMisses(in: directory, request: request, names: names).sentences
    }
}

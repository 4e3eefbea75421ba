extension PushError {
    /// - Parameter known: existing plan ids.
    package static func noPlan(_ id: String, known: [String]) -> PushError {
        PushError(
            "plan.not_found", "unknown plan \"\(id.prefix(40))\"",
            hint: nearest(id, in: known).map { "did you mean \"\($0)\"? list plans with pushhost plan list" }
                ?? "list plans with pushhost plan list", status: 404)
    }

    /// For a plan that existed but has been deleted.
    package static func planExpired(_ id: String) -> PushError {
        PushError(
            "plan.expired", "plan \(id) has expired; its devices are no longer stored",
            hint: "plan again: plans are stored for a few days, and only a limited number per hub", status: 410)
    }

    package static func planContent(_ id: String) -> PushError {
        PushError(
            "plan.content", "plan \(id) was made for different content than the send has",
            hint: "omit the content to send the plan's, or plan again with this content", status: 409)
    }

    package static func planWithoutContent(_ id: String) -> PushError {
        PushError(
            "plan.content", "plan \(id) has no content, and the send has none either",
            hint: "give the send content, such as a text", status: 409)
    }

    /// The error of a hub that does not support plans.
    package static let plansUnsupported = PushError(
        "target.unsupported", "this hub does not support plans: it can find registrations by one tag only",
        hint: "plan on the embedded target or on a PushHost; pushhost check --target azure lists what Azure would reject")
}

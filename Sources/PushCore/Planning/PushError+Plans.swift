extension PushError {
    /// - Parameter known: the ids that there are.
    static func noPlan(_ id: String, known: [String]) -> PushError {
        PushError(
            "plan.not_found", "there is no plan \"\(id.prefix(40))\"",
            hint: nearest(id, in: known).map { "did you mean \($0)? pushhost plan list shows those that there are" }
                ?? "pushhost plan list shows those that there are", status: 404)
    }

    /// It was there once.
    package static func planExpired(_ id: String) -> PushError {
        PushError(
            "plan.expired", "plan \(id) has expired: its devices are not known any more",
            hint: "plan once more: plans are kept for some days, and only so many of each hub", status: 410)
    }

    static func planContent(_ id: String) -> PushError {
        PushError(
            "plan.content", "plan \(id) was made for another content than the send has",
            hint: "leave the content out, for that of the plan is sent; or plan once more with this one", status: 409)
    }

    static func planWithoutContent(_ id: String) -> PushError {
        PushError(
            "plan.content", "plan \(id) has an audience and no content, and the send has none either",
            hint: "say what is to be sent", status: 409)
    }
}

/// A plan as stored, without its devices.
package struct StoredPlan: Sendable, Equatable {
    /// Ascending from 1, unique in the hub.
    package var number: Int64
    /// Key of plans that are compared with each other; see ``PlanRequest``.
    package var subject: String
    /// Number of registrations in the plan.
    package var members: Int
    package var report: PlanReport

    package init(number: Int64, subject: String, members: Int, report: PlanReport) {
        self.number = number
        self.subject = subject
        self.members = members
        self.report = report
    }

    package var id: String { PlanID.text(number) }
}

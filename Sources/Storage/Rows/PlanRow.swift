import PushModel

/// A stored plan. What has no column of its own is JSON: audience and content in the form of a notification request (content only if there
/// is one), and the report in its JSON form.
///
/// `{"tags": "a && b", "template": {…}, "members": 12, "report": {…}}`
struct PlanRow {
    /// The columns that `init(_:)` reads.
    static let columns = "key, subject, content, hub"

    let plan: StoredPlan

    init(_ plan: StoredPlan) { self.plan = plan }

    init(_ row: some SQLRow) throws {
        let number = NotificationKey(stored: row.integer(0)).sequence
        plan = try reading("the plan \(number) of hub \(row.integer(3))") {
            let json = try row.json(2)
            let hasContent = json["template"] != nil || json["native"] != nil
            guard
                var report = PlanReportDocument(json: try json.required("report")).report(
                    audience: try Audience(stored: json), content: hasContent ? try NotificationContent(stored: json) : nil)
            else { throw UnreadableValue(reason: "its report is invalid") }
            report.id = PlanID.text(number)
            return StoredPlan(
                number: number, subject: row.text(1), members: Int(try json.required("members").storedInteger()), report: report)
        }
    }

    var content: JSON {
        var object = JSONObject()
        plan.report.audience.store(in: &object)
        plan.report.content?.store(in: &object)
        object.append("members", .integer(Int64(plan.members)))
        object.append("report", PlanReportDocument(plan.report).json)
        return .object(object)
    }
}

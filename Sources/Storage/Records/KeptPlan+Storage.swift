import PushCore

/// `{"tags": "a && b", "template": {…}, "members": 12, "report": {…}}`: the audience and the content as those of a notification, the
/// content only where there is one, and the report as it is shown.
extension KeptPlan {
    var storedJSON: JSON {
        var object = JSONObject()
        report.audience.store(in: &object)
        report.content?.store(in: &object)
        object.append("members", .integer(Int64(members)))
        object.append("report", report.document)
        return .object(object)
    }

    init(number: Int64, subject: String, stored json: JSON) throws {
        let hasContent = json["template"] != nil || json["native"] != nil
        guard
            var report = PlanReport(
                document: try json.required("report"), audience: try Audience(stored: json),
                content: hasContent ? try NotificationContent(stored: json) : nil)
        else { throw UnreadableValue(reason: "the report is none") }
        report.id = PlanID.text(number)
        self.init(
            number: number, subject: subject, members: Int(try json.required("members").storedInteger()), report: report)
    }
}

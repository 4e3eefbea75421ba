import PushModel

/// `{"tags": "a && b", "template": {…}, "members": 12, "report": {…}}`: audience and content in the form of a notification request
/// (content only if there is one), and the report in its JSON form.
extension StoredPlan {
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
        else { throw UnreadableValue(reason: "its report is invalid") }
        report.id = PlanID.text(number)
        self.init(
            number: number, subject: subject, members: Int(try json.required("members").storedInteger()), report: report)
    }
}

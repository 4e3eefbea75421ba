import NIOHTTP1
import PushModel

/// An error in the JSON API's format (RFC 9457, "Problem Details for HTTP APIs").
struct ProblemDocument: Sendable {
    static let contentType = "application/problem+json"

    static let schema = JSONSchema.object(
        "Problem",
        [
            "type": .text("Always about:blank; the code identifies the problem"), "title": .text("The name of the status"),
            "status": .integer("The HTTP status", 400...599), "detail": .text("What was wrong, and where"),
            "code": .text("Stable, such as hub.not_found; see pushhost explain CODE"), "hint?": .text("What to do"),
            "trackingId": .text("The request's id in the server's log"),
            "approvalId?": .text("The id of the approval request, if any"),
            "runId?": .text("The run of a flow, if any"), "version?": .text("The first digits of the hash of that run's script"),
            "location?": .text("The line of the script"),
            "drift?": .object(
                "PlanDrift",
                [
                    "plan": .text("Its id"), "joined": .integer(), "left": .integer(), "changed": .integer(),
                    "tolerated": .integer("Number of changes tolerated"), "planned": .integer("Registrations of the plan"),
                    "firstJoined": .list(of: PlanManagement.device), "firstLeft": .list(of: PlanManagement.device),
                    "firstChanged": .list(of: PlanManagement.device),
                ]),
        ])

    let error: PushError
    let trackingID: String

    /// The document. An error without a status is internal: its text is omitted, because it may contain data not meant for clients.
    var json: JSON {
        let status = error.status ?? 500
        let isOurs = error.status == nil
        return .members([
            "type": "about:blank", "title": .string(HTTPResponseStatus(statusCode: status).reasonPhrase), "status": .count(status),
            "detail": .string(isOurs ? "the server failed" : error.message), "code": .string(error.code),
            "hint": isOurs ? "look up the tracking id in the server's log" : error.hint.map { .string($0) },
            "trackingId": .string(trackingID), "approvalId": error.details["approval"], "runId": error.details["run"],
            "version": error.details["run"] == nil ? nil : error.details["version"],
            "location": error.details["run"] == nil ? nil : error.details["location"],
            "drift": error.code == "plan.drifted"
                ? .object(JSONObject(error.details.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })) : nil,
        ])
    }
}

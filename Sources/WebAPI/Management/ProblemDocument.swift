import NIOHTTP1
import PushCore

/// An error as the JSON interface tells it (RFC 9457, "Problem Details for HTTP APIs").
struct ProblemDocument: Sendable {
    static let contentType = "application/problem+json"

    static let schema = JSONSchema.object(
        "Problem",
        [
            "type": .text("Always about:blank: the code tells what it is"), "title": .text("The status in words"),
            "status": .integer("The HTTP status", 400...599), "detail": .text("What was wrong, and where"),
            "code": .text("Stable, such as hub.not_found; pushhost explain CODE has a page about it"), "hint?": .text("What to do"),
            "trackingId": .text("Of the request, as in the log of the server"),
            "approvalId?": .text("Where something waits for somebody else's leave, or has waited: under which id"),
            "runId?": .text("The run of a flow that it is about"), "version?": .text("The first digits of the hash of that run's script"),
            "location?": .text("The line of the script"),
            "drift?": .object(
                "PlanDrift",
                [
                    "plan": .text("Its id"), "joined": .integer(), "left": .integer(), "changed": .integer(),
                    "tolerated": .integer("How many of them may be"), "planned": .integer("Registrations of the plan"),
                    "firstJoined": .list(of: ManagementRoute.plannedDevice), "firstLeft": .list(of: ManagementRoute.plannedDevice),
                    "firstChanged": .list(of: ManagementRoute.plannedDevice),
                ]),
        ])

    let error: PushError
    let trackingID: String

    /// An error without a status is one of ours, without its text, which may hold what a client shall not see.
    var json: JSON {
        let status = error.status ?? 500
        let isOurs = error.status == nil
        return .members([
            "type": "about:blank", "title": .string(HTTPResponseStatus(statusCode: status).reasonPhrase), "status": .count(status),
            "detail": .string(isOurs ? "the server failed" : error.message), "code": .string(error.code),
            "hint": isOurs ? "look up the tracking id in the log of the server" : error.hint.map { .string($0) },
            "trackingId": .string(trackingID), "approvalId": error.details["approval"], "runId": error.details["run"],
            "version": error.details["run"] == nil ? nil : error.details["version"],
            "location": error.details["run"] == nil ? nil : error.details["location"],
            "drift": error.code == "plan.drifted"
                ? .object(JSONObject(error.details.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })) : nil,
        ])
    }
}

import HTTPTypes
import HubWire
import PushBackend
import PushModel

/// The flow that handles notification requests instead of the app backend's own code.
struct BackendFlow: Sendable {
    let flows: FlowDispatcher
    let request: WebRequest
    let session: Session
    let variant: TutorialVariant

    /// Runs the flow and returns its response; nil if none is configured.
    func response(to body: BackendBody) async throws(PushError) -> WebAnswer? {
        guard let flow = await flows.backendFlow else { return nil }
        let arguments = try arguments(body)
        let added = try await flows.start(
            RunRequest(
                flow: flow.name, arguments: arguments, trigger: .backend(user: session.username), caller: session,
                // The payload is always secret, whatever the script declares: it must reach neither a push service nor a run record.
                secrets: ["payload"]))
        await flows.finished(added.run.number)
        return try answer(try await flows.run(added.run.id))
    }

    /// The arguments from the request. The flow receives those that its script declares.
    private func arguments(_ body: BackendBody) throws(PushError) -> JSONObject {
        var arguments: JSONObject = [
            "user": .string(session.username), "variant": .string(variant.rawValue), "kind": "greeting",
        ]
        switch body.json {
        case nil: break
        case .string(let text):
            arguments["kind"] = "text"
            arguments["text"] = .string(text)
        case .object:
            let members = try body.object("to and payload")
            try members.check(["to", "payload", "expiresIn", "maxReads"])
            arguments["kind"] = "secure"
            arguments["to"] = .string(try members.text("to"))
            arguments["payload"] = members["payload"]?.numbersAsValues
            arguments["expires_in"] = members["expiresIn"]?.numbersAsValues
            arguments["max_reads"] = members["maxReads"]?.numbersAsValues
        default:
            throw BackendBody.refusal("the body is neither a string nor an object", "send \"text\", or an object with to and payload")
        }
        if let to = request.query["to_tag"]?.nonEmpty { arguments["to"] = .string(to) }
        if let platform = request.query["pns"]?.nonEmpty {
            arguments["platform"] = .string(try Platform(pns: platform).shortName)
        }
        return arguments
    }

    /// The response: 200, or what the script returns: a table with `status` and `body`, and the sent notification's id as
    /// `notification_id`.
    private func answer(_ run: RunRecord) throws(PushError) -> WebAnswer {
        guard run.state == .completed else {
            let failure = run.report.failure
            throw PushError(
                "run.failed", "the flow \(run.flow) that handles this request did not complete, run \(run.id)",
                hint: "see pushhost runs show \(run.id)", status: run.state == .failed ? 500 : 503,
                isRetryable: run.state != .failed, details: ["run": .string(run.id), "cause": .string(failure?.message ?? "")])
        }
        let result = run.report.result
        let status = result?["status"]?.int ?? 200
        guard (200...599).contains(status) else {
            throw PushError(
                "run.failed", "the flow \(run.flow) returned \(status), which is not an HTTP status", hint: "use 200 to 599",
                status: 500, details: ["run": .string(run.id)])
        }
        var answer = WebAnswer(HTTPResponse.Status(code: status))
        if let body = result?["body"] { answer = BackendCall.answer(HTTPResponse.Status(code: status), body) }
        if let id = result?["notification_id"]?.string ?? run.report.notifications.last { answer.fields[.notificationID] = id }
        answer.fields[.runID] = run.id
        return answer
    }
}

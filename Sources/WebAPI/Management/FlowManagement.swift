import HTTPTypes
import HubWire
import PushBackend
import PushModel

/// Routes for the server's flows: listing them and starting them manually.
enum FlowManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get("/api/v1/flows", "listFlows", "The server's flows by name, with their triggers"),
            .server(.manage), answer: .ok("All flows", .page(of: flow))
        ) { call async throws(PushError) in
            var items: [JSON] = []
            let dispatcher = try call.flows
            for flow in await dispatcher.served { items.append(await flow.json(dispatcher)) }
            return call.list(items, continuation: nil)
        },
        ManagementRoute(
            .get("/api/v1/flows/{flow}", "getFlow", "One flow, with the schema of the arguments that its script declares now"),
            .server(.manage), answer: .ok("The flow", flowDetails)
        ) { call async throws(PushError) in
            let dispatcher = try call.flows
            let flow = try await dispatcher.flow(call.name("flow"))
            let description = try await dispatcher.description(of: flow.name)
            var object = await flow.json(dispatcher).object ?? JSONObject()
            object["version"] = .string(description.version)
            object["summary"] = .string(description.summary)
            object["parameters"] = description.schema
            return call.answer(.object(object))
        },
        ManagementRoute(
            .post(
                "/api/v1/flows/{flow}/runs", "startRun",
                "Start a flow; responds when the run is stored. The same Idempotency-Key starts it once"),
            .server(.manage), body: .object("NewRun", ["arguments?": .map("The flow's arguments by name", of: .any("Any JSON"))]),
            answer: .created("The run as stored", RunRecordJSON.schema), refusals: [409, 422],
            audit: AuditRule(.runStart, isFrequent: true) { call, answer in (call.name("flow"), ["run": answer.runID]) }
        ) { call async throws(PushError) in
            let key = call.request.fields[.idempotencyKey].map { "request \($0)" }
            let added = try await call.flows.start(
                RunRequest(
                    flow: call.name("flow"), arguments: call.body["arguments"]?.object ?? JSONObject(), trigger: .command(by: call.actor),
                    key: key))
            var answer = call.answer(RunRecordJSON(added.run).summary, .created, location: "/api/v1/runs/\(added.run.id)")
            answer.fields[.runID] = added.run.id
            if added.isRepeated { answer.fields[.idempotencyReplayed] = "true" }
            return answer
        },
    ]

    private static let members: KeyValuePairs<String, JSONSchema> = [
        "flow": .text(), "script": .text("The path of the script"), "hub?": .text("Its hub, if set in the settings"),
        "http?": .choice("Who may start it with a request", FlowAccess.words),
        "schedules": .list("The names of its schedules", of: .text()),
        "events": .list("Events that start it", of: .choice(nil, HubEvent.Kind.allCases.map(\.rawValue))),
        "answersBackend": .boolean("Whether it handles POST /api/notifications of the app backend"),
        "arguments": .map("Arguments from the settings", of: .any("Any JSON")), "concurrency": .integer("Maximum of concurrent runs"),
        "overlap?": .choice("What happens to a trigger when the maximum is reached", OverlapPolicy.allCases.map(\.rawValue)),
        "guarantee": .choice("What happens to a run if the server crashes", RunGuarantee.allCases.map(\.rawValue)),
        "timeout?": .text("Maximum duration of a run"), "unfinished": .integer("Number of queued and running runs"),
        "trouble?": .text("Why it cannot start: an error in its script or in its arguments from the settings"),
    ]

    private static let flow = JSONSchema.object("Flow", members)

    private static let flowDetails: JSONSchema = {
        guard case .object(let members, _) = flow.kind else { return flow }
        let more = [
            JSONSchema.Member(name: "version", schema: .text("The first digits of the script's hash"), isOptional: false),
            JSONSchema.Member(name: "summary", schema: .text("The first line of the script's comment"), isOptional: false),
            JSONSchema.Member(name: "parameters", schema: .any("The JSON Schema (2020-12) of its arguments"), isOptional: false),
        ]
        return JSONSchema(kind: .object(members + more, alternatives: []), name: "FlowDetails")
    }()
}

extension ServedFlow {
    fileprivate func json(_ flows: FlowDispatcher) async -> JSON {
        let names = await flows.sortedSchedules.filter { $0.rule.flow == name }.map { JSON.string($0.rule.name) }
        return .members([
            "flow": .string(name), "script": .string(script), "hub": hub.map { .string($0) },
            "http": triggers.access.map { .string($0.word) },
            "schedules": .array(names), "events": .array(triggers.events.map(\.rawValue).sorted().map { .string($0) }),
            "answersBackend": .bool(triggers.answersBackend), "arguments": .object(await flows.maskedArguments(of: self)),
            "concurrency": .count(policy.concurrency),
            "overlap": policy.overlap.map { .string($0.rawValue) }, "guarantee": .string(policy.guarantee.rawValue),
            "timeout": policy.timeout.map { .string($0.short) }, "unfinished": .count(await flows.unfinished(of: name)),
            "trouble": await issue(flows).map { .string($0) },
        ])
    }

    private func issue(_ flows: FlowDispatcher) async -> String? {
        do throws(PushError) {
            try await flows.check(self)
            return nil
        } catch {
            return error.message
        }
    }
}

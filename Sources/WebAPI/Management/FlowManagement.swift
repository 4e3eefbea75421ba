import HTTPTypes
import HubWire
import PushCore

// Flows that the server runs: which there are, and starting one by hand.
extension ManagementRoute {
    static let flows: [ManagementRoute] = [
        ManagementRoute(
            .get, "/api/v1/flows", "listFlows", "The flows of the server, by name, with what starts them", .server, .manage,
            answer: .ok("All flows", .page(of: flow))
        ) { call async throws(PushError) in
            var items: [JSON] = []
            let dispatcher = try call.flows
            for flow in await dispatcher.served { items.append(await flow.json(dispatcher)) }
            return call.list(items, continuation: nil)
        },
        ManagementRoute(
            .get, "/api/v1/flows/{flow}", "getFlow", "One flow, with the schema of its arguments as its script declares them now", .server,
            .manage, answer: .ok("The flow", flowDetails)
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
            .post, "/api/v1/flows/{flow}/runs", "startRun",
            "Start a flow; it is answered when the run is kept. The same Idempotency-Key starts it once", .server, .manage,
            body: .object("NewRun", ["arguments?": .map("What the flow is given, by name", of: .any("Any JSON"))]),
            answer: .created("The run as it was kept", RunRecord.schema), refusals: [409, 422],
            noted: Noted(.runStart, isFrequent: true) { call, answer in (call.name("flow"), ["run": answer.runID]) }
        ) { call async throws(PushError) in
            let key = call.request.fields[.idempotencyKey].map { "request \($0)" }
            let added = try await call.flows.start(
                RunRequest(
                    flow: call.name("flow"), arguments: call.body["arguments"]?.object ?? JSONObject(), trigger: .command(by: call.actor),
                    key: key))
            var answer = call.answer(added.run.summary, .created, location: "/api/v1/runs/\(added.run.id)")
            answer.fields[.runID] = added.run.id
            if added.isRepeated { answer.fields[.idempotencyReplayed] = "true" }
            return answer
        },
    ]

    private static let members: KeyValuePairs<String, JSONSchema> = [
        "flow": .text(), "script": .text("The path of the script"), "hub?": .text("The hub that it works with, where the settings say"),
        "http?": .choice("Who may start it with a request", FlowAccess.words),
        "schedules": .list("The names of its schedules", of: .text()),
        "events": .list("What starts it", of: .choice(nil, HubEvent.Kind.allCases.map(\.rawValue))),
        "answersBackend": .boolean("Whether it answers POST /api/notifications of the app backend"),
        "arguments": .map("What the settings give it", of: .any("Any JSON")), "concurrency": .integer("Runs of it at a time"),
        "overlap?": .choice("What becomes of a trigger while there are so many", OverlapPolicy.allCases.map(\.rawValue)),
        "guarantee": .choice("What a crash of the server may do to a run", RunGuarantee.allCases.map(\.rawValue)),
        "timeout?": .text("How long a run may take"), "unfinished": .integer("Runs that wait or are under way"),
        "trouble?": .text("Why it cannot begin: what is wrong with its script, or with what the settings give it"),
    ]

    private static let flow = JSONSchema.object("Flow", members)

    private static let flowDetails: JSONSchema = {
        guard case .object(let members, _) = flow.kind else { return flow }
        let more = [
            JSONSchema.Member(name: "version", schema: .text("The first digits of the script's hash"), isOptional: false),
            JSONSchema.Member(name: "summary", schema: .text("The first line of the script's comment"), isOptional: false),
            JSONSchema.Member(name: "parameters", schema: .any("Of its arguments, as JSON Schema (2020-12)"), isOptional: false),
        ]
        return JSONSchema(kind: .object(members + more, alternatives: []), name: "FlowDetails")
    }()
}

extension ServedFlow {
    fileprivate func json(_ flows: FlowDispatcher) async -> JSON {
        let names = await flows.keptSchedules.filter { $0.rule.flow == name }.map { JSON.string($0.rule.name) }
        return .members([
            "flow": .string(name), "script": .string(script), "hub": hub.map { .string($0) }, "http": access.map { .string($0.word) },
            "schedules": .array(names), "events": .array(events.map(\.rawValue).sorted().map { .string($0) }),
            "answersBackend": .bool(answersBackend), "arguments": .object(await flows.shownArguments(of: self)),
            "concurrency": .count(concurrency),
            "overlap": overlap.map { .string($0.rawValue) }, "guarantee": .string(guarantee.rawValue),
            "timeout": timeout.map { .string($0.short) }, "unfinished": .count(await flows.unfinished(of: name)),
            "trouble": await trouble(flows).map { .string($0) },
        ])
    }

    private func trouble(_ flows: FlowDispatcher) async -> String? {
        do throws(PushError) {
            try await flows.check(self)
            return nil
        } catch {
            return error.message
        }
    }
}

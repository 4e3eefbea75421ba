import HTTPTypes
import HubWire
import PushBackend
import PushModel

/// Routes for runs of flows: list, cancel, repeat.
enum RunManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get("/api/v1/runs", "listRuns", "The runs of flows, newest first"),
            .server(.manage),
            [
                .query("flow", .text("Runs of this flow", length: 1...60)),
                .query("state", .choice("Runs in this state", RunRecord.State.allCases.map(\.rawValue))),
                .query("trigger", .choice("Runs started by this trigger", RunTrigger.Kind.allCases.map(\.rawValue))), .top,
                .continuation("[0-9]{1,18}"),
            ], answer: .ok("A page of runs", .page(of: RunRecordJSON.schema))
        ) { call async throws(PushError) in
            let filter = RunFilter(
                flow: call.text("flow"), state: call.text("state").flatMap(RunRecord.State.init(rawValue:)),
                trigger: call.text("trigger").flatMap(RunTrigger.Kind.init(rawValue:)))
            let found = try await call.flows.runs(
                filter, before: call.text("continuation").flatMap { Int64($0) }, limit: call.top + 1)
            let shown = found.prefix(call.top)
            return call.list(
                shown.map { RunRecordJSON($0).summary },
                continuation: found.count > shown.count ? shown.last.map { String($0.number) } : nil)
        },
        ManagementRoute(
            .get("/api/v1/runs/{run}", "getRun", "One run, with its steps and its log"),
            .server(.manage), answer: .ok("The run", RunRecordJSON.detailsSchema)
        ) { call async throws(PushError) in call.answer(RunRecordJSON(try await call.flows.run(call.name("run"))).details) },
        ManagementRoute(
            .post("/api/v1/runs/{run}/cancel", "cancelRun", "Cancel a run; responds when it has ended"),
            .server(.manage), answer: .ok("The run", RunRecordJSON.detailsSchema), refusals: [409],
            audit: AuditRule(.runCancel) { call, _ in (call.name("run"), [:]) }
        ) { call async throws(PushError) in
            call.answer(RunRecordJSON(try await call.flows.cancel(call.name("run"), by: call.actor)).details)
        },
        ManagementRoute(
            .post("/api/v1/runs/{run}/rerun", "rerun", "Repeat a run with the current script and the same arguments"),
            .server(.manage), answer: .created("The new run", RunRecordJSON.schema), refusals: [409],
            audit: AuditRule(.runRerun) { call, answer in (call.name("run"), ["run": answer.runID]) }
        ) { call async throws(PushError) in
            let run = try await call.flows.rerun(call.name("run"), by: call.actor)
            var answer = call.answer(RunRecordJSON(run).summary, .created, location: "/api/v1/runs/\(run.id)")
            answer.fields[.runID] = run.id
            return answer
        },
    ]
}

extension WebAnswer {
    /// The id of the run in the response.
    var runID: String { fields[.runID] ?? "" }
}

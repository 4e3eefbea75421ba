// What there is: flows, and their runs.
extension FlowDispatcher {
    /// The flows in the order of their names.
    package var served: [ServedFlow] { flows.values.sorted { $0.name < $1.name } }

    /// Throws `flow.not_found` (404).
    package func flow(_ name: String) throws(PushError) -> ServedFlow {
        if let flow = flows[name] { return flow }
        let near = nearest(name, in: flows.keys)
        throw PushError(
            "flow.not_found", "there is no flow \"\(name.prefix(80))\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: flows.isEmpty
                ? "flows: in the settings file lists those that the server runs" : "pushhost flows lists those there are", status: 404)
    }

    /// Runs of a flow that wait or are under way.
    package func unfinished(of flow: String) -> Int { count(of: flow) }

    /// The flow that answers `POST /api/notifications`; nil for none.
    package var backendFlow: ServedFlow? { flows.values.first(where: \.answersBackend) }

    /// What a flow's script says of itself. Throws `flow.not_found` (404) and `script.*`.
    package func description(of name: String) async throws(PushError) -> FlowDescription {
        try await executor.parameters(of: try flow(name))
    }

    /// Throws where what the settings say of a flow cannot be so: `script.*`, `flow.broken`, and `args.invalid` for arguments of it or of its
    /// schedules that the script does not take. What requests give may be missing.
    package func check(_ flow: ServedFlow) async throws(PushError) {
        let isGivenMore = flow.access != nil || !flow.events.isEmpty || flow.answersBackend
        if !isGivenMore, flow.schedules.isEmpty {
            _ = try await executor.parameters(of: flow)
        } else if isGivenMore {
            try await checkNames(flow)
        }
        for rule in flow.schedules { _ = try await executor.check(arguments(of: flow, rule.arguments), for: flow) }
    }

    private func checkNames(_ flow: ServedFlow) async throws(PushError) {
        let schema = try await executor.parameters(of: flow).schema
        let known = schema["properties"]?.object?.keys ?? []
        for name in flow.arguments.keys where !known.contains(name) {
            throw PushError(
                "args.invalid",
                "the flow has no argument \"\(name)\"\(nearest(name, in: known).map { "; did you mean \"\($0)\"?" } ?? "")",
                hint: "push.args of the script declares what it takes", status: 400)
        }
    }

    /// A run as it is now. Throws `run.not_found` (404).
    package func run(_ id: String) async throws(PushError) -> RunRecord {
        if let number = RunRecord.number(of: id) {
            if let run = known(number) { return run }
            if let run = try await store.run(number) { return live(run) }
        }
        // What was meant is more often a recent one.
        let recent = try await store.runs(RunFilter(), before: nil, limit: 20).map(\.id)
        let near = nearest(id, in: recent)
        throw PushError(
            "run.not_found", "there is no run \"\(id.prefix(40))\"\(near.map { "; did you mean \($0)?" } ?? "")",
            hint: "pushhost runs list shows those there are", status: 404)
    }

    /// Newest first, those below a number, or from the newest on for nil; without their reports, but for those under way.
    package func runs(_ filter: RunFilter, before number: Int64?, limit: Int) async throws(PushError) -> [RunRecord] {
        try await store.runs(filter, before: number, limit: limit).map { live($0) }
    }

    /// Begins a run once more, with what it was given. Throws `run.not_found` (404), `run.unfinished` and `run.secrets_lost` (409), and what
    /// `start` throws.
    package func rerun(_ id: String, by actor: String) async throws(PushError) -> RunRecord {
        let run = try await run(id)
        guard run.state.isFinal else {
            throw PushError(
                "run.unfinished", "\(id) has not ended: \(run.state.rawValue)", hint: "wait for its end, or pushhost runs cancel \(id)",
                status: 409)
        }
        guard run.withheld.isEmpty else {
            throw PushError(
                "run.secrets_lost", "\(id) was given \(run.withheld.joined(separator: ", ")), which is kept nowhere",
                hint: "start the flow anew with it", status: 409)
        }
        var request = RunRequest(flow: run.flow, arguments: run.arguments, trigger: .rerun(of: id, by: actor), origin: run.origin)
        // It was told more than its script wants to know, which may want to know something else by now.
        request.takesWhatFits = run.trigger.tellsMore
        return try await start(request).run
    }

    /// Forgets runs that ended before `moment`.
    package func forget(endedBefore moment: Timestamp) async throws(PushError) {
        while !Task.isCancelled, try await store.removeRuns(endedBefore: moment, limit: 200) == 200 {}
    }

    /// As it is in this process, where that is further than what is kept.
    func live(_ run: RunRecord) -> RunRecord { known(run.number) ?? run }

    private func known(_ number: Int64) -> RunRecord? {
        active[number]?.current ?? ending[number] ?? queue.first { $0.number == number }
    }

    /// What is given over what the settings give.
    func arguments(of flow: ServedFlow, _ given: JSONObject) -> JSONObject {
        var arguments = flow.arguments
        for (name, value) in given.members { arguments[name] = value }
        return arguments
    }

    /// The same of what may be kept with a run that nobody looks at before.
    func keptArguments(of flow: ServedFlow, _ given: JSONObject) -> JSONObject {
        var arguments = flow.arguments
        for name in secretNames[flow.name] ?? [] { arguments[name] = nil }
        for (name, value) in given.members { arguments[name] = value }
        return arguments
    }

    /// What the settings give, as it may be shown.
    package func shownArguments(of flow: ServedFlow) -> JSONObject {
        var arguments = flow.arguments
        for name in secretNames[flow.name] ?? [] where arguments[name] != nil { arguments[name] = "***" }
        return arguments
    }

    /// The names of arguments that a flow's script calls secret; all of them where it cannot be read.
    func secrets(of flow: ServedFlow, among arguments: JSONObject) async -> Set<String> {
        guard !arguments.isEmpty else { return [] }
        guard let parameters = try? await executor.parameters(of: flow).schema["properties"] else { return Set(arguments.keys) }
        return Set(arguments.keys.filter { parameters[$0]?["writeOnly"] == true })
    }

    func checkIsOpen() throws(PushError) {
        if isStopping { throw Self.stopped }
    }

    func checkRoom(_ flow: ServedFlow) throws(PushError) {
        let count = queue.count { $0.flow == flow.name }
        guard count >= Self.queueLimit, (flow.overlap ?? .queue) != .replace else { return }
        throw PushError(
            "run.queue_full", "\(count) runs of \(flow.name) wait already", hint: "try again in a while, or let more run at a time",
            status: 429, isRetryable: true)
    }

    static let stopped = PushError(
        "hub.stopped", "the server stops, and begins no runs any more", hint: "try again in a while", status: 503, isRetryable: true)

    package static func overlap(_ run: RunRecord) -> PushError {
        PushError(
            "run.overlap", run.report.failure?.message ?? "another run of \(run.flow) had not ended",
            hint: "wait for its end; overlap: queue in the settings of the flow lets runs wait", status: 409, isRetryable: true,
            details: ["run": .string(run.id)])
    }
}

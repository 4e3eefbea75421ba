import PushModel

// Reading flows and runs.
extension FlowDispatcher {
    /// All flows, ordered by name.
    package var served: [ServedFlow] { flows.values.sorted { $0.name < $1.name } }

    /// Throws `flow.not_found` (404).
    package func flow(_ name: String) throws(PushError) -> ServedFlow {
        if let flow = flows[name] { return flow }
        let near = nearest(name, in: flows.keys)
        throw PushError(
            "flow.not_found", "there is no flow \"\(name.prefix(80))\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: flows.isEmpty
                ? "define flows under flows: in the settings file" : "list them with pushhost flows", status: 404)
    }

    /// Number of queued and running runs of a flow.
    package func unfinished(of flow: String) -> Int { count(of: flow) }

    /// The flow that answers `POST /api/notifications`, if one is configured.
    package var backendFlow: ServedFlow? { flows.values.first(where: \.answersBackend) }

    /// Parameters and description that a flow's script declares. Throws `flow.not_found` (404) and `script.*`.
    package func description(of name: String) async throws(PushError) -> FlowDescription {
        try await executor.parameters(of: try flow(name))
    }

    /// Validates a flow's settings. Throws `script.*`, `flow.broken`, and `args.invalid` if the script does not accept the arguments of the
    /// flow or of its schedules. Arguments that requests can supply may be missing.
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
                hint: "push.args in the script declares its arguments", status: 400)
        }
    }

    /// The run with this id, with its progress so far. Throws `run.not_found` (404).
    package func run(_ id: String) async throws(PushError) -> RunRecord {
        if let number = RunRecord.number(of: id) {
            if let run = known(number) { return run }
            if let run = try await store.run(number) { return live(run) }
        }
        // Suggest a recent run: a mistyped id usually belongs to one.
        let recent = try await store.runs(RunFilter(), before: nil, limit: 20).map(\.id)
        let near = nearest(id, in: recent)
        throw PushError(
            "run.not_found", "there is no run \"\(id.prefix(40))\"\(near.map { "; did you mean \($0)?" } ?? "")",
            hint: "list them with pushhost runs list", status: 404)
    }

    /// Runs below `number` (nil: from the newest), newest first. Only runs in progress include their reports.
    package func runs(_ filter: RunFilter, before number: Int64?, limit: Int) async throws(PushError) -> [RunRecord] {
        try await store.runs(filter, before: number, limit: limit).map { live($0) }
    }

    /// Starts a new run with the arguments of an ended one. Throws `run.not_found` (404), `run.unfinished` and `run.secrets_lost` (409),
    /// and what `start` throws.
    package func rerun(_ id: String, by actor: String) async throws(PushError) -> RunRecord {
        let run = try await run(id)
        guard run.state.isFinal else {
            throw PushError(
                "run.unfinished", "\(id) has not ended: \(run.state.rawValue)",
                hint: "wait until it ends, or run pushhost runs cancel \(id)",
                status: 409)
        }
        guard run.withheld.isEmpty else {
            throw PushError(
                "run.secrets_lost", "\(id) had secret arguments, which are not stored: \(run.withheld.joined(separator: ", "))",
                hint: "start the flow again with these arguments", status: 409)
        }
        var request = RunRequest(flow: run.flow, arguments: run.arguments, trigger: .rerun(of: id, by: actor), origin: run.origin)
        // Such a trigger supplies more arguments than the script declares, and the script may have changed since.
        request.ignoresInvalidValues = run.trigger.suppliesUndeclaredArguments
        return try await start(request).run
    }

    /// Deletes runs that ended before `time`.
    package func forget(endedBefore time: Timestamp) async throws(PushError) {
        while !Task.isCancelled, try await store.removeRuns(endedBefore: time, limit: 200) == 200 {}
    }

    /// The in-memory state of a run if there is one, otherwise the stored record.
    func live(_ run: RunRecord) -> RunRecord { known(run.number) ?? run }

    private func known(_ number: Int64) -> RunRecord? {
        active[number]?.current ?? ending[number] ?? queue.first { $0.number == number }
    }

    /// The flow's configured arguments, overridden by `given`.
    func arguments(of flow: ServedFlow, _ given: JSONObject) -> JSONObject {
        var arguments = flow.arguments
        for (name, value) in given.members { arguments[name] = value }
        return arguments
    }

    /// Arguments that may be stored with a run that is not checked before: like `arguments(of:_:)`, without configured secrets.
    func storableArguments(of flow: ServedFlow, _ given: JSONObject) -> JSONObject {
        var arguments = flow.arguments
        for name in secretNames[flow.name] ?? [] { arguments[name] = nil }
        for (name, value) in given.members { arguments[name] = value }
        return arguments
    }

    /// The flow's configured arguments with secrets masked.
    package func maskedArguments(of flow: ServedFlow) -> JSONObject {
        var arguments = flow.arguments
        for name in secretNames[flow.name] ?? [] where arguments[name] != nil { arguments[name] = "***" }
        return arguments
    }

    /// Names of the arguments that the flow's script declares secret; all names if the script cannot be read.
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
            "run.queue_full", "\(count) runs of \(flow.name) are already queued", hint: "try again later, or raise the flow's concurrency",
            status: 429, isRetryable: true)
    }

    static let stopped = PushError(
        "hub.stopped", "the server is shutting down and starts no more runs", hint: "try again later", status: 503, isRetryable: true)

    package static func overlap(_ run: RunRecord) -> PushError {
        PushError(
            "run.overlap", run.report.failure?.message ?? "another run of \(run.flow) had not ended",
            hint: "wait until it ends, or set overlap: queue in the flow's settings", status: 409, isRetryable: true,
            details: ["run": .string(run.id)])
    }
}

import PushModel

/// Compares the settings of flows with what their scripts declare.
struct FlowInspector: Sendable {
    let executor: any FlowExecutor

    /// Validates a flow's settings. Throws `script.*`, `flow.broken`, and `args.invalid` if the script does not accept the arguments of the
    /// flow or of its schedules. Arguments that requests can supply may be missing.
    func check(_ flow: ServedFlow) async throws(PushError) {
        let isGivenMore = flow.triggers.passArguments
        if !isGivenMore, flow.triggers.schedules.isEmpty {
            _ = try await executor.parameters(of: flow)
        } else if isGivenMore {
            try await checkNames(flow)
        }
        for rule in flow.triggers.schedules { _ = try await executor.check(flow.arguments(rule.arguments), for: flow) }
    }

    private func checkNames(_ flow: ServedFlow) async throws(PushError) {
        let schema = try await executor.parameters(of: flow).schema
        let known = schema["properties"]?.object?.keys ?? []
        for name in flow.arguments.keys where !known.contains(name) {
            throw PushError(
                "args.invalid",
                "unknown argument \"\(name)\" of the flow\(nearest(name, in: known).map { "; did you mean \"\($0)\"?" } ?? "")",
                hint: "push.args in the script declares its arguments", status: 400)
        }
    }

    /// Names of the arguments that the flow's script declares secret; all names if the script cannot be read.
    func secrets(of flow: ServedFlow, among arguments: JSONObject) async -> Set<String> {
        guard !arguments.isEmpty else { return [] }
        guard let parameters = try? await executor.parameters(of: flow).schema["properties"] else { return Set(arguments.keys) }
        return Set(arguments.keys.filter { parameters[$0]?["writeOnly"] == true })
    }
}

package import PushModel

/// The configured flows of a server, by name. Part of the dispatcher's state.
final class FlowCatalog {
    private var flows: [String: ServedFlow] = [:]
    /// For each flow, the configured arguments that its script declares secret. They are never stored.
    private var secretNames: [String: Set<String>] = [:]

    subscript(name: String) -> ServedFlow? { flows[name] }

    /// All flows, ordered by name.
    var sorted: [ServedFlow] { flows.values.sorted { $0.name < $1.name } }

    /// The event kinds that start some flow.
    var eventKinds: Set<HubEvent.Kind> { flows.values.reduce(into: Set()) { $0.formUnion($1.triggers.events) } }

    /// The flow that answers `POST /api/notifications`, if one is configured.
    var backendFlow: ServedFlow? { flows.values.first(where: \.triggers.answersBackend) }

    func replace(_ flows: [ServedFlow], secretNames: [String: Set<String>]) {
        self.flows = Dictionary(flows.map { ($0.name, $0) }) { first, _ in first }
        self.secretNames = secretNames
    }

    /// Throws `flow.not_found` (404).
    func flow(_ name: String) throws(PushError) -> ServedFlow {
        if let flow = flows[name] { return flow }
        let near = nearest(name, in: flows.keys)
        throw PushError(
            "flow.not_found", "unknown flow \"\(name.prefix(80))\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: flows.isEmpty
                ? "define flows under flows: in the settings file" : "list them with pushhost flows", status: 404)
    }

    /// The flows that an event starts. A flow is not started by events that it caused itself, to prevent endless loops.
    func flows(startedBy event: HubEvent) -> [ServedFlow] {
        sorted.filter { $0.triggers.events.contains(event.kind) && !event.origin.contains($0.origin) }
    }

    /// Arguments that may be stored with a run that is not checked before: the configured ones without secrets, overridden by `given`.
    func storableArguments(of flow: ServedFlow, _ given: JSONObject) -> JSONObject {
        var arguments = flow.arguments
        for name in secretNames[flow.name] ?? [] { arguments[name] = nil }
        for (name, value) in given.members { arguments[name] = value }
        return arguments
    }

    /// The flow's configured arguments with secrets masked.
    func maskedArguments(of flow: ServedFlow) -> JSONObject {
        var arguments = flow.arguments
        for name in secretNames[flow.name] ?? [] where arguments[name] != nil { arguments[name] = "***" }
        return arguments
    }
}

extension ServedFlow {
    /// The flow's entry in the `origin` of events and runs. The colon distinguishes it from plugin names.
    package var origin: String { "flow:\(name)" }

    /// The configured arguments, overridden by `given`.
    func arguments(_ given: JSONObject) -> JSONObject {
        var arguments = arguments
        for (name, value) in given.members { arguments[name] = value }
        return arguments
    }
}

import PushLab
import PushModel
import RemoteHub
import Simulators
import WebAPI

/// Answers requests for the faults of the simulated services that a lab session has ordered: see docs/reference/lab.md.
struct LabFaultRoutes: Sendable {
    let lab: Lab
    let session: LabSession

    /// - Parameter word: the name of the service.
    func answer(_ call: LabRoutes.Call, _ word: String) throws(PushError) -> LabRoutes.Answer {
        try call.check("GET", "POST", "DELETE")
        let service = Platform(try LabInterface.service(word))
        let faults = lab.faults(of: session.id)
        if call.method == "POST" { try order(call, faults, service) }
        if call.method == "DELETE" { faults.clear(service) }
        return LabRoutes.Answer(
            200,
            [
                "service": .string(service.shortName), "reasons": .words(faults.reasons(of: service, at: .send)),
                "tokenReasons": .words(faults.reasons(of: service, at: .token)),
            ])
    }

    private func order(_ call: LabRoutes.Call, _ faults: SimulatedFaults, _ service: Platform) throws(PushError) {
        let kinds = ["refuse", "latency", "break", "revokeTokens"]
        let fields = try LabFields(body: call.body, allowing: kinds)
        guard kinds.count(where: { fields.value($0) != nil }) == 1 else {
            throw PushError(
                "request.body", "the body must have exactly one of \(kinds.joined(separator: ", "))", hint: "send one of them", status: 400)
        }
        if let milliseconds = try fields.optionalInteger("latency") {
            guard (0...86_400_000).contains(milliseconds) else { throw fields.wrong("latency", "a number of milliseconds up to a day") }
            faults.setLatency(.milliseconds(milliseconds), of: service)
        } else if let refusal = fields.value("refuse") {
            try faults.fail(service, with: try InjectedRefusal(body: refusal))
        } else if fields.value("revokeTokens") != nil {
            guard try fields.flag("revokeTokens") else { throw fields.wrong("revokeTokens", "true") }
            try faults.revokeTokens(of: service)
        } else {
            let fields = try LabFields(body: fields.value("break"), allowing: ["count", "afterRequest"])
            faults.breakConnections(service, count: try fields.count() ?? 1, afterRequest: try fields.flag("afterRequest"))
        }
    }
}

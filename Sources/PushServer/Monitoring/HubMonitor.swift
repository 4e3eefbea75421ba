import PushHub
import PushModel

/// Reports the delivery issues and held removals of all hubs, for `pushhost doctor` and the metrics.
struct HubMonitor: Sendable {
    let namespace: Namespace
    let context: ServerContext

    /// The current delivery issues of all hubs.
    var issues: [HubIssue] {
        get async {
            var found: [HubIssue] = []
            for hub in namespace.hubs {
                found += await context.onHubs { await hub.service.issues() }.map { HubIssue(hub: hub.record.name, $0) }
            }
            return found
        }
    }

    /// Hubs with held removals of devices.
    var heldRemovals: [HubHeldRemovals] {
        get async {
            var found: [HubHeldRemovals] = []
            for hub in namespace.hubs {
                found.append(HubHeldRemovals(hub: hub.record.name, devices: await context.onHubs { await hub.service.heldRemovalCount }))
            }
            return found.filter { $0.devices > 0 }
        }
    }

    /// Sets `pushhost_removals_held`: the number of devices per hub whose removal is held; no value for hubs without any.
    func measureHeldRemovals() async {
        context.metrics.replace("pushhost_removals_held", with: await heldRemovals.map { ([("hub", $0.hub)], Double($0.devices)) })
    }

    /// Sets `pushhost_circuit_open`, the number of push services per hub and platform that do not respond (browsers have several),
    /// `pushhost_circuit_next_try_seconds`, the earliest next attempt since 1970, and `pushhost_mixed_up` (1), if most tokens are not those
    /// of the credential.
    func measureIssues() async {
        let platforms = Dictionary(grouping: await issues) { [$0.hub, $0.platform.rawValue] }
        func values(_ value: ([HubIssue]) -> Double?) -> [(dimensions: [(String, String)], value: Double)] {
            platforms.compactMap { key, issues in value(issues).map { ([("hub", key[0]), ("platform", key[1])], $0) } }
        }
        func count(_ some: [some Any]) -> Double? { some.isEmpty ? nil : Double(some.count) }
        context.metrics.replace("pushhost_circuit_open", with: values { count($0.compactMap(\.nextTry)) })
        context.metrics.replace(
            "pushhost_circuit_next_try_seconds", with: values { $0.compactMap(\.nextTry).min().map { Double($0.seconds) } })
        context.metrics.replace("pushhost_mixed_up", with: values { count($0.compactMap(\.wrongEnvironment)) })
    }
}

import HubWire
import PushModel

/// The results per device that a PushHost reports beyond Azure's interface.
struct RemoteDeviceResults: Sendable {
    let hub: HubClient
    let knownHandles: KnownHandles

    /// Maximum number of devices requested individually; further devices are only counted.
    private static let mostDevices = 1000

    /// Adds the result of each device with the push service's reason, and near misses if no device matched. Leaves the outcome unchanged if
    /// these are not available.
    func add(to outcome: inout NotificationOutcome) async {
        var known = outcome
        do throws(PushError) {
            try await read(into: &known)
            outcome = known
        } catch {}
    }

    private func read(into outcome: inout NotificationOutcome) async throws(PushError) {
        var devices: [DeviceOutcome] = []
        for id in outcome.id.split(separator: ",").map(String.init) {
            let notification = try await hub.json("notifications/\(PercentEncoding.encode(id))")
            for text in notification["nearMisses"]?.array?.compactMap(\.string) ?? [] where !outcome.nearMisses.contains(text) {
                outcome.nearMisses.append(text)
            }
            outcome.note(notification["notices"]?.array?.compactMap { $0.string.map(Notice.text) } ?? [])
            for (name, reasons) in notification["pruned"]?.object?.members ?? [] {
                guard let platform = Platform(shortName: name) else { continue }
                let counts = (reasons.object?.members ?? []).compactMap { reason, count in count.int.map { (reason, $0) } }
                outcome.tally.pruned[platform, default: [:]].merge(counts) { $0 + $1 }
            }
            var continuation: String?
            repeat {
                let query = continuation.map { "&continuation=\(PercentEncoding.encode($0))" } ?? ""
                let page = try await hub.json("notifications/\(PercentEncoding.encode(id))/devices", "?top=100\(query)")
                devices += (page["items"]?.array ?? []).compactMap { device($0, beside: outcome.devices) }
                continuation = page["continuation"]?.string
            } while continuation != nil && devices.count < Self.mostDevices
        }
        if !devices.isEmpty { outcome.devices = devices }
    }

    private func device(_ json: JSON, beside known: [DeviceOutcome]) -> DeviceOutcome? {
        guard let platform = json["platform"]?.string.flatMap({ Platform(shortName: $0) }),
            let outcome = json["outcome"]?.string.flatMap({ OutcomeName(rawValue: $0) })
        else { return nil }
        let id = json["registrationId"]?.string.flatMap { RegistrationID($0) }
        let handle =
            id.flatMap { id in knownHandles[id] ?? known.first { $0.registrationID == id }?.handle }
            ?? DeviceHandle(reported: json["handle"]?.string ?? "", platform)
        return DeviceOutcome(
            device: OutcomeDevice(
                registrationID: id, installationID: json["installationId"]?.string, platform: platform, handle: handle,
                templateName: json["template"]?.string), outcome: outcome, reason: json["reason"]?.string ?? "",
            cause: .text(json["explanation"]?.string ?? ""), pushID: json["pushId"]?.string, size: json["bytes"]?.int ?? 0,
            isRegistrationRemoved: json["isRegistrationRemoved"]?.bool ?? false)
    }
}

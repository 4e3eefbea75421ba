package import PushModel

/// The held removals of a hub, as reported to `pushhost doctor`.
package struct HubHeldRemovals: Sendable, Equatable {
    package var hub: String
    /// Number of devices whose removal is held.
    package var devices: Int

    init(hub: String, devices: Int) { (self.hub, self.devices) = (hub, devices) }

    var json: JSON { .object(JSONObject([("hub", .string(hub)), ("devices", .integer(Int64(devices)))])) }

    package init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let devices = json["devices"]?.int else { return nil }
        (self.hub, self.devices) = (hub, devices)
    }
}

import Lua
import PushModel

/// Registering the device of the current user, and telling them.
enum CurrentUserBindings {
    static let registerCurrentUser = Binding(
        "session:register_current_user",
        "Registers the session's user on a device in one call, as the app backend of 2013 does: one registration per installation id, "
            + "tagged with the id and the user's name, and a test notification to that name.",
        takes: .table([
            .required("device", .object("device"), "the device: push.device{…}"),
            .optional("installation_id", .string, "a UUID; if absent, the app creates one and stores it"),
        ]),
        returns: "push.Registration", errors: ["auth.session_expired", "backend.installation_id", "device.uninstalled"],
        example: "session:register_current_user { device = phone }",
        body: .async { arguments, run in
            let session = try arguments.receiver(as: SessionObject.self).session
            let device = try arguments.handle("device", as: DeviceObject.self)
            let lab = try run.lab
            try run.store(HostCost.storedRegistration, arguments)
            let handle = try await lab.handle(of: device.id)
            let id: String
            if let given = arguments.string("installation_id") {
                id = given
            } else {
                id = try await lab.storage(of: device.id)[installationKey] ?? run.newInstallationID(of: device)
            }
            let result = try await run.world.backend.registerCurrentUser(session, installationID: id, handle: handle)
            try await lab.store(id, for: installationKey, on: device.id)
            run.noteRegistration(result.registration, device: device.name, site: arguments.site)
            await run.sends.note(result.outcome, audience: session.username, site: arguments.site)
            return RegistrationRecord(result.registration)
        })

    private static let installationKey = "installationId"
}

extension FlowRun {
    /// A UUID (version 4) derived only from the run's seed and the device's name.
    fileprivate func newInstallationID(of device: DeviceObject) -> String {
        let digits = Array(SeededRandom.derived(from: runner.seed, for: "installation of \(device.name)").hex(32))
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        return "\(part(0..<8))-\(part(8..<12))-4\(part(13..<16))-8\(part(17..<20))-\(part(20..<32))"
    }
}

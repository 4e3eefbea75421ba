import PushLab
import PushModel
import RemoteHub
import Simulators
import WebAPI

/// Answers requests for the phones of a lab session: see docs/reference/lab.md.
struct LabPhoneRoutes: Sendable {
    let lab: Lab
    let session: LabSession

    /// - Parameter path: the segments after `phones`.
    func answer(_ call: LabRoutes.Call, _ path: [String]) async throws(PushError) -> LabRoutes.Answer {
        guard let number = path.first else {
            try call.check("GET", "POST")
            return call.method == "POST" ? try await add(call) : try await list()
        }
        let phone = try await phone(number)
        switch (path.dropFirst().first, path.count) {
        case (nil, _):
            try call.check("GET")
            return LabRoutes.Answer(200, try await session.phones.device(phone).json(id: phone))
        case ("handle", 2):
            try call.check("GET")
            return LabRoutes.Answer(200, try await session.phones.handle(of: phone).labJSON)
        case ("inbox", 2):
            try call.check("GET")
            return LabRoutes.Answer(200, ["items": .array(try await session.phones.inbox(of: phone).map(\.json))])
        case ("actions", 2):
            try call.check("POST")
            let action = try DeviceAction(body: call.body)
            if case .show = action { try checkMemory() }
            try await session.phones.perform(action, on: phone)
            await recordHandle(of: phone)
            return LabRoutes.Answer(200, try await session.phones.device(phone).json(id: phone))
        case ("storage", 2):
            try call.check("GET", "PUT")
            if call.method == "PUT" { try await store(call, phone) }
            let all = try await session.phones.storage(of: phone).sorted { $0.key < $1.key }
            return LabRoutes.Answer(200, ["storage": .object(JSONObject(all.map { ($0.key, .string($0.value)) }))])
        default:
            throw PushError(
                "request.path", "unknown path of a phone", hint: "use handle, inbox, actions or storage", status: 404)
        }
    }

    private func phone(_ text: String) async throws(PushError) -> DeviceID {
        let id = Int(text).map(DeviceID.init(rawValue:))
        guard let id, await session.phones.devices().contains(id) else {
            throw PushError(
                "device.not_found", "the session has no phone \(text.prefix(40))",
                hint: "GET /lab/sessions/\(session.id)/phones lists them", status: 404)
        }
        return id
    }

    private func add(_ call: LabRoutes.Call) async throws(PushError) -> LabRoutes.Answer {
        let fields = try LabFields(body: call.body, allowing: DeviceDescription.members)
        guard lab.simulators.phones.canAddPhone else { throw Self.full }
        let phone = try await session.phones.addDevice(try DeviceDescription(fields))
        lab.owners.give(phone.phone, to: session)
        await recordHandle(of: phone)
        return LabRoutes.Answer(201, try await session.phones.device(phone).json(id: phone))
    }

    private func list() async throws(PushError) -> LabRoutes.Answer {
        var phones: [JSON] = []
        for id in await session.phones.devices() { phones.append(try await session.phones.device(id).json(id: id)) }
        return LabRoutes.Answer(200, ["phones": .array(phones)])
    }

    private func store(_ call: LabRoutes.Call, _ phone: DeviceID) async throws(PushError) {
        let fields = try LabFields(body: call.body, allowing: ["key", "value"])
        if fields.value("value") != nil { try checkMemory() }
        try await session.phones.store(try fields.optionalText("value"), for: try fields.text("key"), on: phone)
    }

    private func checkMemory() throws(PushError) {
        if lab.simulators.phones.isOutOfMemory { throw Self.full }
    }

    private static let full = PushError(
        "lab.full", "the lab has reached its limit of phones or memory; nothing was changed",
        hint: "end sessions of the lab, raise lab.phones, or restart the server", status: 507)

    /// Records the phone's handle in the ledger before a client can register it, so that its registrations can be removed after a crash.
    private func recordHandle(of phone: DeviceID) async {
        guard let handle = try? await session.phones.handle(of: phone), session.note(handle) else { return }
        await lab.ledger.note(handle, of: session.id)
    }
}

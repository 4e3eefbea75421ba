package import PushModel
import Synchronization

/// The phones of a session in a server's lab.
package final class RemoteLab: DeviceLab {
    private struct State {
        var descriptions: [DeviceID: DeviceDescription] = [:]
        var order: [DeviceID] = []
    }

    private let path: String
    private let connection: any LabConnection
    private let clock: RemoteClock
    private let phoneEvents: RemotePhoneEvents
    private let state = Mutex(State())

    init(path: String, connection: any LabConnection, clock: RemoteClock, phoneEvents: RemotePhoneEvents) {
        (self.path, self.connection, self.clock, self.phoneEvents) = (path, connection, clock, phoneEvents)
    }

    private func call(_ method: String, _ resource: String, _ body: JSON? = nil) async throws(PushError) -> LabFields {
        let answer = try await clock.during { () async throws(PushError) in
            try await connection.call(method, "\(path)/\(resource)", body)
        }
        return try LabFields(answer: answer)
    }

    private func catchUp() async throws(PushError) {
        try await clock.during { () async throws(PushError) in try await phoneEvents.catchUp() }
    }

    package func addDevice(_ description: DeviceDescription) async throws(PushError) -> DeviceID {
        let id = DeviceID(rawValue: try await call("POST", "phones", description.json()).integer("id"))
        state.withLock { state in
            state.descriptions[id] = description
            state.order.append(id)
        }
        return id
    }

    package func device(_ id: DeviceID) async throws(PushError) -> DeviceDescription {
        guard let description = state.withLock({ $0.descriptions[id] }) else {
            throw PushError("device.not_found", "there is no such device", status: 404)
        }
        return description
    }

    package func handle(of id: DeviceID) async throws(PushError) -> DeviceHandle {
        try DeviceHandle(try await call("GET", "phones/\(id.rawValue)/handle"))
    }

    package func inbox(of id: DeviceID) async throws(PushError) -> [InboxItem] {
        var items: [InboxItem] = []
        for json in try await call("GET", "phones/\(id.rawValue)/inbox").list("items") { items.append(try InboxItem(json)) }
        return items
    }

    package func perform(_ action: DeviceAction, on id: DeviceID) async throws(PushError) {
        _ = try await call("POST", "phones/\(id.rawValue)/actions", action.json)
    }

    package func storage(of id: DeviceID) async throws(PushError) -> [String: String] {
        let members = try await call("GET", "phones/\(id.rawValue)/storage").object("storage").members
        return Dictionary(members.map { ($0.key, $0.value.string ?? "") }) { _, last in last }
    }

    package func store(_ value: String?, for key: String, on id: DeviceID) async throws(PushError) {
        let body = JSON.lab(["key": .string(key), "value": value.map { .string($0) } ?? .null])
        _ = try await call("PUT", "phones/\(id.rawValue)/storage", body)
    }

    package func waitForItems(
        moreThan count: Int, on id: DeviceID, until deadline: Timestamp
    ) async throws(PushError) -> [InboxItem] {
        while true {
            let revision = phoneEvents.revision(of: id)
            let items = try await inbox(of: id)
            if items.count > count || clock.now >= deadline || Task.isCancelled { return items }
            if let failure = clock.failure { throw failure }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [phoneEvents] in await phoneEvents.change(of: id, after: revision) }
                group.addTask { [clock] in try? await clock.sleep(until: deadline) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    package func nextPush(on id: DeviceID) async throws -> InboxItem {
        // Fetch earlier pushes, which no task was waiting for.
        try await catchUp()
        return try await phoneEvents.nextPush(on: id)
    }

    package func devices() async -> [DeviceID] { state.withLock { $0.order } }

    package func events(since index: Int) async -> [DeviceEvent] {
        // If the lab is gone, the next request reports it.
        try? await catchUp()
        try? await clock.during { () async throws(PushError) in await clock.trace?.catchUp() }
        return phoneEvents.events(since: index)
    }
}

/// The requests and responses of the push services since the session began.
package struct RemoteWire: WireTap {
    let path: String
    let connection: any LabConnection
    let clock: RemoteClock

    package func exchanges(with service: Platform?) async throws(PushError) -> [WireExchange] {
        let query = service.map { "?service=\($0.shortName)" } ?? ""
        let answer = try await clock.during { () async throws(PushError) in
            try await connection.call("GET", "\(path)/wire\(query)", nil)
        }
        var exchanges: [WireExchange] = []
        for json in try LabFields(answer: answer).list("exchanges") { exchanges.append(try WireExchange(json)) }
        return exchanges
    }
}

/// Faults of the push services in a server's lab.
package struct RemoteFaults: ServiceFaults {
    let path: String
    let connection: any LabConnection
    let clock: RemoteClock
    let words: [InjectedRefusal.RequestKind: [Platform: [String]]]

    package func reasons(of service: Platform, at requestKind: InjectedRefusal.RequestKind) -> [String] {
        words[requestKind]?[service == .gcm ? .fcmV1 : service] ?? []
    }

    package func fail(_ service: Platform, with refusal: InjectedRefusal) async throws(PushError) {
        try await call("POST", service, ["refuse": refusal.json])
    }

    package func revokeTokens(of service: Platform) async throws(PushError) {
        try await call("POST", service, ["revokeTokens": true])
    }

    package func setLatency(_ latency: Duration, of service: Platform) async throws(PushError) {
        try await call("POST", service, ["latency": .integer(latency.milliseconds)])
    }

    package func breakConnections(_ service: Platform, count: Int, afterRequest: Bool) async throws(PushError) {
        try await call("POST", service, ["break": ["count": .count(count), "afterRequest": .bool(afterRequest)]])
    }

    package func clear(_ service: Platform) async throws(PushError) { try await call("DELETE", service, nil) }

    private func call(_ method: String, _ service: Platform, _ body: JSON?) async throws(PushError) {
        _ = try await clock.during { () async throws(PushError) in
            try await connection.call(method, "\(path)/faults/\(service.shortName)", body)
        }
    }
}

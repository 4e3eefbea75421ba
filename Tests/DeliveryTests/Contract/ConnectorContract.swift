import PushModel
import Testing

@testable import Delivery

/// The contract of every connector with the hub, tested over real sockets with TLS.
@Suite struct ConnectorContract {
    @Test(arguments: ContractedService.all)
    func `there is one verdict per handle, in order, and an invalid or unknown handle does not affect the others`(
        service: ContractedService
    ) async throws {
        let contract = try await Contract(service) { request, _ in
            service.number(request).map { $0 == 7 ? service.invalidHandle : service.success } ?? .answer(500)
        }
        var handles = contract.batch(60).handles
        let foreign: DeviceHandle = service.platform == .apns ? .wns(channel: "https://db5.notify.windows.com/?t=1") : .apns(token: "00")
        handles.insert(foreign, at: 3)
        let verdicts = await contract.connector.deliver(
            DeliveryBatch(notificationID: "n1", platform: service.platform, body: Array(service.body.utf8), handles: handles))
        #expect(verdicts.count == 61)
        #expect(verdicts[3].rejection?.reason == "BadChannel" && verdicts[3].rejection?.status == 0)
        #expect(verdicts[8].rejection?.isHandleInvalid == true, "\(verdicts[8])")
        for (index, verdict) in verdicts.enumerated() where index != 3 && index != 8 {
            guard case .accepted(let id) = verdict else {
                Issue.record("\(index): \(verdict)")
                continue
            }
            #expect(id?.isEmpty == false)
        }
        // Every body and path is complete and belongs to its own device.
        #expect(contract.devices.sorted() == Array(0..<60))
        #expect(contract.server.requests.allSatisfy { $0.method == "POST" })
        if service.platform != .apns {
            #expect(contract.server.requests.allSatisfy { $0.headers["content-length"] == "\($0.body.count)" })
        }
        try await contract.end()
    }

    @Test(arguments: ContractedService.all)
    func `a payload that is too large is not sent`(service: ContractedService) async throws {
        let contract = try await Contract(service)
        let verdicts = await contract.connector.deliver(contract.batch(3, body: service.oversized))
        #expect(verdicts.map { $0.rejection?.outcome } == [.invalidNotificationSize, .invalidNotificationSize, .invalidNotificationSize])
        #expect(contract.server.accepted == 0)
        #expect(contract.tokens.accepted == 0)
        try await contract.end()
    }

    @Test(arguments: ContractedService.all)
    func `a delivery that is cancelled before its turn is abandoned`(service: ContractedService) async throws {
        let contract = try await Contract(service)
        let verdicts = await withTaskGroup(of: [Verdict].self) { group in
            group.cancelAll()
            group.addTask { await contract.deliver(50) }
            return await group.next() ?? []
        }
        #expect(verdicts.count == 50)
        #expect(verdicts.allSatisfy { $0.isTransient && $0.rejection?.outcome == .abandoned })
        #expect(contract.server.requests.isEmpty)
        try await contract.end()
    }

    @Test(arguments: ContractedService.all)
    func `a refused connection is a transient error that names the address`(service: ContractedService) async throws {
        let port = ClosedPort()
        let contract = try await Contract(service, port: port.number)
        for verdict in await contract.connector.deliver(contract.batch(3, at: port.number)) {
            #expect(verdict.isTransient && verdict.rejection?.outcome == .pnsUnreachable, "\(verdict)")
            #expect(verdict.rejection?.explanation.contains(":\(port.number) could not be reached") == true, "\(verdict)")
        }
        try await contract.end()
    }

    @Test(arguments: ContractedService.all)
    func `a connection lost after the request is unknown and is not retried`(service: ContractedService) async throws {
        let contract = try await Contract(service) { _, _ in .cut }
        guard case .unknown? = await contract.deliver(1).first else {
            Issue.record("it is not unknown")
            return
        }
        #expect(contract.devices == [0])
        try await contract.end()
    }

    @Test(arguments: ContractedService.overHTTP2)
    func `a request that the service refused unread is retried`(service: ContractedService) async throws {
        let contract = try await Contract(service) { _, number in number <= 10 ? .refuse : service.success }
        #expect(await contract.deliver(20).allSatisfy { $0.isAccepted })
        #expect(contract.server.requests.count == 30)
        try await contract.end()
    }

    @Test func `over HTTP 1 a connection lost before the request is retried once`() async throws {
        var behaviour = ServiceBehaviour()
        behaviour.closedFirst = 1
        let contract = try await Contract(.wns, behaviour)
        #expect(await contract.deliver(1).map(\.isAccepted) == [true])
        #expect(contract.server.accepted == 2)
        #expect(contract.devices == [0])
        try await contract.end()
    }

    @Test(arguments: ContractedService.all, ["90", "Mon, 05 Jan 2026 08:01:30 GMT"])
    func `the wait that the service asks for is passed on`(service: ContractedService, wait: String) async throws {
        let contract = try await Contract(service) { _, number in .answer(number.isMultiple(of: 2) ? 429 : 503, ["Retry-After": wait]) }
        for verdict in await contract.deliver(4) {
            #expect(verdict.isTransient && verdict.retryAfter == .seconds(90), "\(verdict)")
        }
        try await contract.end()
    }

    @Test(arguments: ContractedService.all)
    func `an unknown status is passed on and does not invalidate the handle`(service: ContractedService) async throws {
        let contract = try await Contract(service) { _, _ in .answer(418) }
        let verdict = try #require(await contract.deliver(1).first)
        #expect(verdict.isRejected && verdict.rejection?.status == 418 && verdict.rejection?.isHandleInvalid == false, "\(verdict)")
        #expect(verdict.rejection?.reason.contains("418") == true)
        try await contract.end()
    }

    @Test(arguments: ContractedService.granted)
    func `an expired access token is renewed once for all requests, without failures`(service: ContractedService) async throws {
        let refused = try #require(service.refused)
        let contract = try await Contract(service) { request, _ in
            request.headers["authorization"] == "Bearer token-1" ? refused : service.success
        }
        #expect(await contract.deliver(100).allSatisfy { $0.isAccepted })
        #expect(contract.tokens.requests.count == 2)
        #expect(Set(contract.devices) == Set(0..<100))
        try await contract.end()
    }

    @Test(arguments: ContractedService.all.filter { $0.refused != nil })
    func `a refused credential whose replacement is refused too ends the batch`(service: ContractedService) async throws {
        let refused = try #require(service.refused)
        let contract = try await Contract(service) { _, _ in refused }
        let verdicts = await contract.deliver(100)
        #expect(verdicts.count == 100)
        #expect(verdicts.allSatisfy { $0.isRejected && $0.rejection?.outcome == .invalidCredentials })
        #expect(contract.server.requests.count <= service.mostRefused)
        #expect(contract.tokens.requests.count <= 2)
        try await contract.end()
    }

    @Test(arguments: ContractedService.overHTTP2)
    func `requests in flight are limited as the service allows, first 1 and then 100`(service: ContractedService) async throws {
        var behaviour = ServiceBehaviour()
        (behaviour.firstStreams, behaviour.streams) = (1, 100)
        let contract = try await Contract(service, behaviour)
        #expect(await contract.deliver(400).allSatisfy { $0.isAccepted })
        #expect(contract.devices.sorted() == Array(0..<400))
        try await contract.end()
    }

    @Test(arguments: ContractedService.overHTTP2)
    func `after GOAWAY the remaining requests use another connection, and each is sent once`(service: ContractedService) async throws {
        var behaviour = ServiceBehaviour()
        (behaviour.goodbye, behaviour.streams) = (20, 10)
        let contract = try await Contract(service, behaviour)
        #expect(await contract.deliver(100).allSatisfy { $0.isAccepted })
        #expect(contract.devices.sorted() == Array(0..<100))
        #expect(contract.server.spoken > 1)
        try await contract.end()
    }
}

extension Verdict {
    var isAccepted: Bool { if case .accepted = self { true } else { false } }
}

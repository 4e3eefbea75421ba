import HTTPTypes
import PushHub
import PushModel
import Storage
import Support
import Testing

@testable import WebAPI

@Suite struct FeedbackRouteTests {
    private func routes(_ bench: RouteBench) -> FeedbackRoutes { FeedbackRoutes(access: bench.access) }

    private func container(_ bench: RouteBench) async throws -> String {
        let answer = try await routes(bench).container(of: "hub", try bench.request("/hub/feedbackcontainer"))
        #expect(answer.status == .ok)
        return String(decoding: answer.body, as: UTF8.self)
    }

    private func records(_ bench: RouteBench, _ address: String, now: Timestamp? = nil) async throws -> WebAnswer {
        let path = address.replacing("http://localhost", with: "").prefix { $0 != "?" }
        let request = bench.unsigned(String(path), query: String(address.drop { $0 != "?" }.dropFirst()), now: now)
        return try await routes(bench).records(of: "hub", request)
    }

    private func accept(_ bench: RouteBench, sequence: Int64, invalid: Int) async throws {
        let id = "notification-\(sequence)"
        let outcome = NotificationOutcome(
            id: id, state: .completed, tags: nil,
            times: NotificationTimes(enqueuedAt: HubBench.startTime, endedAt: HubBench.startTime + .seconds(sequence)))
        let store = bench.store.store(ofHub: 1)
        _ = try await store.accept(StoredNotification(sequence: sequence, request: try .alert("a"), outcome: outcome))
        let devices = (0..<invalid).map { number in
            DeviceOutcome(
                device: OutcomeDevice(
                    registrationID: RegistrationID("1-2-\(number)"), platform: .apns, handle: .phone(number), templateName: nil),
                outcome: .expiredChannel, reason: "Unregistered", cause: .text(""), pushID: nil, size: 0, isRegistrationRemoved: true)
        }
        try await store.record(NotificationProgress(sequence: sequence, outcome: outcome, devices: devices))
    }

    @Test func `The feedback is at an address of the server, with one line per device`() async throws {
        let bench = try await RouteBench()
        try await accept(bench, sequence: 1, invalid: 1)
        let address = try await container(bench)
        #expect(address.hasPrefix("http://localhost/feedback/hub?se=1767690000&sig="))
        let answer = try await records(bench, address)
        #expect(answer.status == .ok && answer.fields.count == 1)
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"<PnsFeedback xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" "#
                + #"xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><FeedbackTime>2026-01-05T09:00:01.000Z</FeedbackTime>"#
                + "<NotificationSystemError>ExpiredChannel</NotificationSystemError><Platform>apple</Platform><PnsHandle>"
                + "\(DeviceHandle.phone(0).text)</PnsHandle><RegistrationId>1-2-0</RegistrationId>"
                + "<NotificationId>notification-1</NotificationId></PnsFeedback>\n")
    }

    @Test func `Feedback that exceeds one answer has a link to the rest`() async throws {
        let bench = try await RouteBench()
        for sequence in Int64(1)...3 { try await accept(bench, sequence: sequence, invalid: 700) }
        var address: String? = try await container(bench)
        var sizes: [Int] = []
        while let next = address {
            let answer = try await records(bench, next)
            sizes.append(answer.body.count { $0 == 0x0A })
            let link = HTTPField.Name("Link").flatMap { answer.fields[$0] }
            address = link.map { String($0.dropFirst().prefix { $0 != ">" }) }
        }
        #expect(sizes == [1000, 1000, 100])
    }

    @Test func `An address that is invalid or too old is refused`() async throws {
        let bench = try await RouteBench()
        let address = try await container(bench)
        let late = HubBench.startTime + .seconds(86_401)
        for (changed, now) in [
            (address.replacing("se=1767690000", with: "se=1767690001"), nil), (String(address.prefix { $0 != "?" }), nil),
            (address.replacing("&sig=", with: "&sig=AAAA"), nil), (address, late),
        ] as [(String, Timestamp?)] {
            let error = await refusal { try await records(bench, changed, now: now) }
            #expect(error?.code == "feedback.forbidden" && error?.status == 403)
        }
        #expect(await refusal { try await records(bench, address + "&after=x") }?.code == "feedback.after")
    }

    @Test func `Only a key with Manage gets the address`() async throws {
        let bench = try await RouteBench()
        let error = await refusal {
            try await routes(bench).container(of: "hub", try bench.request("/hub/feedbackcontainer", rule: Namespace.listenRule))
        }
        #expect(error?.code == "sas.forbidden")
    }
}

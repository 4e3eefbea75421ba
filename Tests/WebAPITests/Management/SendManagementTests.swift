import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct SendManagementTests {
    private func register(_ bench: ManagementBench, _ number: Int, template: String? = nil, _ tags: [String] = ["news"]) async throws {
        _ = try await bench.hub.createRegistration(
            RegistrationDescription(
                handle: .phone(number), tags: try tags.map { try PushModel.Tag($0) },
                template: try template.map { try RegistrationTemplate(name: "t\($0.count)", body: $0, platform: .apns) }))
    }

    @Test func `A preview shows what a send would deliver`() async throws {
        let bench = try await ManagementBench()
        try await register(bench, 1, template: #"{"aps":{"alert":"$(message)"}}"#)
        try await register(bench, 2, template: #"{"aps":{"alert":"$(message)"}}"#)
        try await register(bench, 3, template: #"{"aps":{"alert":"{'Hello ' + $(name)}"}}"#)
        try await register(bench, 4)
        _ = try await bench.hub.createRegistration(
            RegistrationDescription(
                handle: .wns(channel: "https://wns.example/1"), tags: [try PushModel.Tag("news")],
                template: try RegistrationTemplate(body: "<toast>$(message)</toast>", platform: .wns)))
        let path = "/api/v1/hubs/hub/render"
        let preview = try await bench.call(.post, path, ["tagExpression": "news && !old", "message": ["message": "Hi", "name": "Ann"]])
        #expect(bench.bench.connector.batches.isEmpty)
        #expect(preview["matched"] == 5 && preview["furtherGroups"] == 0)
        let groups = try #require(preview["groups"]?.array)
        #expect(groups.map { $0["devices"] } == [2, 1, 1])
        #expect(groups[2]["refused"]?["outcome"] == "InvalidCredentials" && groups[0]["refused"] == nil)
        #expect(groups[2]["headers"] == ["X-WNS-Type": "wns/toast"])
        _ = try await bench.hub.send(.properties(["message": "Hi", "name": "Ann"], to: "news && !old"))
        let sent = bench.bench.connector.batches
        #expect(groups.prefix(2).map { $0["payload"]?.string } == sent.map { String(decoding: $0.body, as: UTF8.self) })
        #expect(groups.prefix(2).map { $0["devices"]?.int } == sent.map(\.handles.count))
        #expect(groups.prefix(2).map { $0["bytes"]?.int } == sent.map(\.body.count))

        let native = try await bench.call(.post, path, ["native": ["platform": "apns", "payload": ["aps": ["alert": "x"]]]])
        #expect(native["groups"]?.array?.map { $0["payload"] } == [#"{"aps":{"alert":"x"}}"#])
        let price = try await bench.call(.post, path, ["native": ["platform": "apns", "payload": ["price": .numeral("12.50"), "n": 1.5]]])
        #expect(price["groups"]?.array?.map { $0["payload"] } == [#"{"price":12.50,"n":1.5}"#])
        let nobody = try await bench.call(.post, path, ["tagExpression": "nwes", "message": ["message": "Hi"]])
        #expect(nobody["matched"] == 0 && nobody["nearMisses"] == [#""news" has 5 registrations"#])
    }

    @Test func `A preview shows at most a hundred groups and counts the others, and refuses what a send would refuse`() async throws {
        let bench = try await ManagementBench()
        for number in 1...103 { try await register(bench, number, template: #"{"aps":{"badge":\#(number)}}"#) }
        let path = "/api/v1/hubs/hub/render"
        let preview = try await bench.call(.post, path, ["message": [:]])
        #expect(preview["groups"]?.array?.count == 100 && preview["furtherGroups"] == 3)
        try await register(bench, 200)
        for (body, code) in [
            (["tagExpression": "a &&", "message": [:]], "tag_expression.invalid"), (["message": [:], "native": [:]], "request.body"),
            ([:], "request.body"), (["native": ["platform": "apns", "payload": "no"]], "payload.invalid"),
            (["native": ["platform": "apns", "payload": 7]], "request.body"), (["message": ["a b": "c"]], "request.body"),
            (["message": ["a": 1]], "request.body"),
        ] as [(JSON, String)] {
            let error = await refusal { try await bench.call(.post, path, body) }
            #expect(error?.code == code && error?.status == 400, "\(body)")
        }
    }

    @Test func `Notifications are listed newest first, with their counts and near misses`() async throws {
        let bench = try await ManagementBench()
        try await register(bench, 1)
        for _ in 1...3 { _ = try await bench.hub.send(.alert(to: "news")) }
        _ = try await bench.hub.send(.alert(to: "nwes"))
        _ = try await bench.hub.schedule(.alert(), at: HubBench.startTime + .seconds(3600))
        let path = "/api/v1/hubs/hub/notifications"
        let (items, sizes) = try await bench.pages("\(path)?top=2")
        #expect(items.map { $0["notificationId"] } == ["n-0005", "n-0004", "n-0003", "n-0002", "n-0001"] && sizes == [2, 2, 1])
        #expect(items[0]["state"] == "Scheduled" && items[0]["scheduledFor"] == "2026-01-05T10:00:00.000Z")
        #expect(items[1]["state"] == "NoTargetFound" && items[1]["nearMisses"] == [#""news" has 1 registration"#])
        let time: JSON = "2026-01-05T09:00:00.000Z"
        let expected: JSON = [
            "notificationId": "n-0001", "state": "Completed", "tagExpression": "news", "enqueuedAt": time, "startedAt": time,
            "endedAt": time, "targetPlatforms": ["apns"], "outcomes": ["apns": ["Success": 1]],
        ]
        #expect(items[4] == expected)
        #expect(try await bench.call(.get, "\(path)/n-0001") == expected)
        let missing = await refusal { try await bench.call(.get, "\(path)/n-9999/devices") }
        #expect(missing?.code == "notification.not_found" && missing?.status == 404)
    }

    @Test func `Notifications are found by the beginning of their id, in pages`() async throws {
        let bench = try await ManagementBench()
        let path = "/api/v1/hubs/hub/notifications"
        for _ in 1...12 { _ = try await bench.hub.send(.alert(to: "news")) }
        #expect(try await bench.list("\(path)?prefix=n-001&top=2", "notificationId") == ["n-0012", "n-0011", "n-0010"])
        #expect(try await bench.list("\(path)?prefix=n-0003", "notificationId") == ["n-0003"])
        #expect(try await bench.pages("\(path)?prefix=N").items.isEmpty)
        #expect(try await bench.pages("\(path)?prefix=n-0003&scheduled=true").items.isEmpty)
    }

    @Test func `A page examines at most a thousand notifications for a prefix`() async throws {
        let bench = try await ManagementBench()
        for _ in 1...1001 { _ = try await bench.hub.send(.alert(to: "news")) }
        let (items, sizes) = try await bench.pages("/api/v1/hubs/hub/notifications?prefix=n-0001")
        #expect(items.map { $0["notificationId"] } == ["n-0001"] && sizes == [0, 1])
    }

    @Test func `The devices of a notification are listed, filtered by outcome, and never with their handles`() async throws {
        let bench = try await ManagementBench()
        try await bench.hub.putInstallation(Installation(id: "i", handle: .phone(1), tags: [try PushModel.Tag("news")]))
        for number in 2...5 { try await register(bench, number) }
        for number in [2, 5] { bench.bench.connector.script(.phone(number), .rejected(.invalidHandle())) }
        let id = try await bench.hub.send(.alert(to: "news")).id
        let path = "/api/v1/hubs/hub/notifications/\(id)/devices"
        let (all, sizes) = try await bench.pages("\(path)?top=2")
        #expect(all.map { $0["number"] } == [1, 2, 3, 4, 5] && sizes == [2, 2, 1])
        #expect(all[0]["installationId"] == "i" && all[0]["outcome"] == "Success" && all[0]["pushId"] == "push-1")
        let failed = try await bench.pages("\(path)?outcome=ExpiredChannel&top=1")
        #expect(failed.items.map { $0["number"] } == [2, 5] && failed.sizes == [1, 1])
        #expect(failed.items.allSatisfy { $0["reason"] == "Unregistered" && $0["isRegistrationRemoved"] == true })
        for number in 1...5 { #expect(!JSON.array(all).text().contains(DeviceHandle.phone(number).text)) }
    }
}

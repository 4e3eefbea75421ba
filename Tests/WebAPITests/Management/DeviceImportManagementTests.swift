import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

/// Requests that store many devices.
@Suite struct DeviceImportManagementTests {
    private static let path = "/api/v1/hubs/hub/devices/import"

    private static func installation(_ id: String, _ number: Int, _ tags: [String] = ["news"]) -> JSON {
        [
            "installation": [
                "installationId": .string(id), "platform": "apns", "pushChannel": .string(DeviceHandle.phone(number).text),
                "tags": .array(tags.map { .string($0) }), "pushVariables": ["price": .numeral("12.50")],
            ]
        ]
    }

    /// A line as an export job writes it.
    private static func registration(_ number: Int, _ id: String?, _ tags: [String] = ["news"]) throws -> JSON {
        let registration = Registration(
            id: RegistrationID(unchecked: id ?? ""), etag: 1, expiration: .distantFuture, updatedAt: HubBench.startTime,
            description: RegistrationDescription(handle: .phone(number), tags: try tags.map { try PushModel.Tag($0) }))
        return ["registration": .string(String(decoding: RegistrationLines().line(registration), as: UTF8.self))]
    }

    @Test func `Devices are stored, and the same request changes the same ones`() async throws {
        let bench = try await ManagementBench()
        let devices: JSON = [
            "devices": [
                Self.installation("a", 1), Self.installation("b", 2), try Self.registration(3, "1-2-3"),
                try Self.registration(4, nil),
            ]
        ]
        for _ in 1...2 {
            #expect(try await bench.call(.post, Self.path, devices) == ["stored": 4, "rejected": []])
            let size = try await bench.hub.size()
            #expect(size.installations == 2 && size.registrations == 4)
        }
        #expect(try await bench.hub.installation("a").pushVariables == ["price": "12.50"])
        #expect(try await bench.hub.registration(RegistrationID(unchecked: "1-2-3")).handle == .phone(3))
        let noted = await bench.bench.noted()
        #expect(noted == Array(repeating: "key:\(Namespace.rootRule) devices.import 4 devices of the hub hub", count: 2), "\(noted)")
    }

    @Test func `Of several devices with the same id, the last one remains`() async throws {
        let bench = try await ManagementBench()
        let devices: JSON = [
            "devices": [
                Self.installation("a", 1, ["x"]), Self.installation("b", 2), Self.installation("a", 3, ["y"]),
                Self.installation("a", 4, ["z"]),
            ]
        ]
        #expect(try await bench.call(.post, Self.path, devices)["stored"] == 4)
        let found = try await bench.hub.installation("a")
        #expect(found.handle == .phone(4) && found.tags.map(\.text) == ["z"])
    }

    @Test func `Invalid devices are listed with their position and do not affect the others`() async throws {
        let bench = try await ManagementBench()
        let short: JSON = ["installation": ["installationId": "c", "platform": "apns", "pushChannel": "short"]]
        let unnamed: JSON = ["installation": ["platform": "apns", "pushChannel": "00"]]
        let devices: JSON = ["devices": [short, Self.installation("a", 1), unnamed, ["registration": "no XML"], ["installation": 7]]]
        let answer = try await bench.call(.post, Self.path, devices)
        #expect(answer["stored"] == 1)
        #expect(answer["rejected"]?.array?.map { $0["position"] } == [0, 2, 3, 4])
        let codes = answer["rejected"]?.array?.compactMap { $0["code"]?.string }
        #expect(codes == ["handle.invalid", "installation.invalid", "xml.invalid", "installation.invalid"])
        #expect(try await bench.hub.size().installations == 1)
    }

    @Test func `A dry run stores nothing and lists what would be rejected`() async throws {
        let bench = try await ManagementBench()
        let reserved = Self.installation("b", 2, ["$UserId:{ana}"])
        let devices: JSON = ["devices": [Self.installation("a", 1), reserved, try Self.registration(3, nil)], "dryRun": true]
        let answer = try await bench.call(.post, Self.path, devices)
        #expect(answer["stored"] == 2 && answer["rejected"]?.array?.map { $0["code"] } == ["tag.reserved"])
        let size = try await bench.hub.size()
        #expect(size.installations == 0 && size.registrations == 0)
        #expect(await bench.bench.noted().isEmpty)
    }

    @Test func `All devices are exported in pages, and importing them again changes the same ones`() async throws {
        let bench = try await ManagementBench()
        let export = "/api/v1/hubs/hub/devices/export"
        #expect(try await bench.pages("\(export)?top=2").sizes == [0])
        let devices: [JSON] = [
            Self.installation("a", 1), Self.installation("b", 2), try Self.registration(3, "1-2-3"), try Self.registration(4, nil),
            Self.installation("c", 5),
        ]
        try await bench.call(.post, Self.path, ["devices": .array(devices)])
        for top in [1, 2, 3, 1000] {
            let (items, _) = try await bench.pages("\(export)?top=\(top)")
            let installations = items.compactMap { $0["installation"] }
            #expect(items.count == 5 && Set(installations.compactMap { $0["installationId"]?.string }) == ["a", "b", "c"], "\(top)")
            #expect(items.prefix(3).allSatisfy { $0["installation"] != nil })
            let first = installations.first { $0["installationId"] == "a" }
            #expect(first?["pushChannel"]?.string == DeviceHandle.phone(1).text && first?["pushVariables"] == ["price": "12.50"])
            let lines = items.compactMap { $0["registration"]?.string }
            #expect(lines.contains { $0.contains("<RegistrationId>1-2-3</RegistrationId>") } && lines.count == 2)
            #expect(try await bench.call(.post, Self.path, ["devices": .array(items)]) == ["stored": 5, "rejected": []])
        }
        let size = try await bench.hub.size()
        #expect(size.installations == 3 && size.registrations == 5)
        let exports = await bench.bench.noted().filter { $0.contains("devices.export") }
        #expect(exports == Array(repeating: "key:\(Namespace.rootRule) devices.export devices of the hub hub", count: 5))
    }

    @Test func `Requests without devices, with other members and without Manage are refused`() async throws {
        let bench = try await ManagementBench()
        for body in [
            ["devices": []], [:], ["devices": [[:]]], ["devices": [["installation": [:], "registration": "x"]]],
            ["devices": [["device": [:]]]],
        ] as [JSON] {
            #expect(await refusal { try await bench.call(.post, Self.path, body) }?.code == "request.body", "\(body)")
        }
        let listen = try bench.rule(Namespace.listenRule)
        let body: JSON = ["devices": [Self.installation("a", 1)]]
        #expect(await refusal { try await bench.call(.post, Self.path, body, by: listen) }?.code == "sas.forbidden")
        let export = "/api/v1/hubs/hub/devices/export"
        #expect(await refusal { try await bench.call(.get, export, by: listen) }?.code == "sas.forbidden")
    }
}

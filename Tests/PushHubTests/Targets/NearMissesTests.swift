import PushHub
import PushModel
import Support
import Testing

@Suite struct NearMissesTests {
    private let bench: HubBench

    init() throws { bench = try HubBench() }

    private func misses(_ expression: String?, properties: [String: String]? = nil) async throws -> [String] {
        let request: NotificationRequest =
            if let properties { try .properties(properties, to: expression) } else { try .alert(to: expression) }
        let outcome = try await bench.hub.send(request)
        #expect(outcome.state == .noTargetFound && outcome.devices.isEmpty && outcome.endedAt != nil)
        return outcome.nearMisses
    }

    @Test("An empty hub is reported") func emptyHub() async throws {
        #expect(try await misses("a") == ["the hub has no registrations yet"])
        #expect(try await misses(nil) == ["the hub has no registrations yet"])
    }

    @Test("The nearest tag is suggested with its count") func near() async throws {
        try await bench.register(.phone(1), tags: ["Sports"])
        try await bench.register(.phone(2), tags: ["Sports", "username:alice"])
        #expect(try await misses("Sprots") == ["\"Sports\" has 2 registrations"])
        #expect(try await misses("username:alcie") == ["\"username:alice\" has 1 registration"])
        #expect(try await misses("Weather") == ["no registration has the tag \"Weather\""])
    }

    @Test("A negated tag is not a near miss") func negated() async throws {
        try await bench.register(.phone(1), tags: ["Sports"])
        #expect(try await misses("Sprots && !muted") == ["\"Sports\" has 1 registration"])
        #expect(try await misses("!Sports") == [])
        #expect(try await misses("!(Sports && !muted)") == ["no registration has the tag \"muted\""])
    }

    @Test("If every tag is in use, their counts are reported") func conjunction() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(2), tags: ["b"])
        try await bench.register(.phone(3), tags: ["b"])
        #expect(
            try await misses("a && b")
                == ["\"a\" has 1 registration, \"b\" has 2 registrations, but none satisfies the whole expression"])
    }

    @Test("Registrations of the other kind are reported") func otherKind() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        #expect(
            try await misses("a", properties: ["x": "y"])
                == ["1 native registration matches; properties reach template registrations only"])
        #expect(
            try await misses(nil, properties: ["x": "y"])
                == ["1 native registration matches; properties reach template registrations only"])
        let bench = try HubBench()
        for number in 1...2 { try await bench.register(.phone(number), template: #"{"x":"$(y)"}"#) }
        #expect(
            try await bench.send(to: nil).nearMisses
                == ["2 template registrations match; native payloads do not reach templates, properties do"])
    }

    @Test("Platforms without a payload are reported") func missingPayload() async throws {
        try await bench.register(.gcm(token: "t"))
        try await bench.register(.phone(1))
        try await bench.register(.phone(2), template: #"{"x":"$(y)"}"#)
        let request = NotificationRequest(
            audience: .everyone, content: .native([.fcmV1: NativePayload(body: Array("{}".utf8))]))
        #expect(
            try await bench.hub.send(request).nearMisses
                == ["2 registrations match, on APNs, GCM, for which there is no payload"])
    }

    @Test("A miss among thousands of tags is explained") func many() async throws {
        for number in 0..<5_000 { try await bench.register(.phone(number), tags: ["username:user\(number)"]) }
        for _ in 0..<3 {
            #expect(try await misses("username:usr1234") == ["\"username:user1234\" has 1 registration"])
        }
    }

    @Test("With very many tags, the nearest is not searched") func tooMany() async throws {
        let hub = try await bench.reopened(HubSettings(limits: HubSettings.Limits(comparableTags: 2)))
        for (number, tag) in ["Sports", "Weather", "Technology"].enumerated() {
            _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(number), tags: [try Tag(tag)]))
            let near = try await hub.send(.alert(to: "Sprots")).nearMisses
            #expect(near == [number < 2 ? "\"Sports\" has 1 registration" : "no registration has the tag \"Sprots\""])
        }
        #expect(try await hub.preview(.alert(to: "Sprots")).nearMisses == ["no registration has the tag \"Sprots\""])
    }
}

import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct TagManagementTests {
    @Test func `The parts of an expression are shown with their match counts and Azure's limits`() async throws {
        let bench = try await ManagementBench()
        for number in 1...3 {
            _ = try await bench.hub.createRegistration(
                RegistrationDescription(handle: .phone(number), tags: [try PushModel.Tag(number == 1 ? "cards" : "sports")]))
        }
        func explain(_ text: String) async throws -> JSON {
            try await bench.call(.get, "/api/v1/hubs/hub/tags/explain?expression=\(PercentEncoding.encode(text))")
        }
        let answer = try await explain("sport  ||!(cards)")
        #expect(
            answer == [
                "expression": "sport || !cards", "registrations": 3, "matched": 2,
                "parts": [
                    ["depth": 0, "text": "sport || !cards", "registrations": 2],
                    ["depth": 1, "text": "sport", "registrations": 0, "nearest": ["tag": "sports", "registrations": 2]],
                    ["depth": 1, "text": "!cards", "registrations": 2], ["depth": 2, "text": "cards", "registrations": 1],
                ],
            ])
        let long = try await explain((1...21).map { "t\($0)" }.joined(separator: "||"))
        #expect(long["azure"] == ["The expression has 21 tags; Azure Notification Hubs allows 20 with || only."])
        let wrong = await refusal { try await explain("sports &&") }
        #expect(wrong?.code == "tag_expression.invalid" && wrong?.status == 400)
        let missing = await refusal { try await bench.call(.get, "/api/v1/hubs/hub/tags/explain") }
        #expect(missing?.code == "request.parameter" && missing?.message.contains("\"expression\" is missing") == true)
    }

    @Test func `Two expressions are compared, with an example of their difference`() async throws {
        let bench = try await ManagementBench()
        func prove(_ first: String, _ second: String) async throws -> JSON {
            try await bench.call(.post, "/api/v1/tags/prove", ["first": .string(first), "second": .string(second)])
        }
        #expect(try await prove("!(a || b)", "!a && !b") == ["equal": true])
        #expect(try await prove("a && b", "a") == ["equal": false, "example": ["tags": ["a"], "takenBy": "second"]])
        #expect(await refusal { try await prove("a", "(") }?.code == "tag_expression.invalid")
    }
}

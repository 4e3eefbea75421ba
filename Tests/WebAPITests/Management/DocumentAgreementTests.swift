import HTTPTypes
import HubWire
import PushBackend
import PushModel
import Storage
import Support
import Testing

@testable import WebAPI

/// Everything that the document of the JSON API allows is accepted: the server does not refuse it for its form.
@Suite(.timeLimit(.minutes(10))) struct DocumentAgreementTests {
    private static let document = OpenAPIDocument(routes: ManagementRoute.all).json

    /// Values for texts with only a pattern, or with a meaning that a schema cannot express, by pattern, format or name.
    private static let examples: [String: [String]] = [
        "date-time": [
            "2026-01-06T00:00:00Z", "2026-01-06t01:02:03.123456789z", "2026-01-05T23:59:60Z", "2026-01-06T00:00:00+05:30",
        ],
        "tagExpression": ["a", "(news || sports) && !muted"], "first": ["a", "a && b"], "second": ["a", "!b"],
        "expression": ["a", "a && !b"],
        "cron": ["* * * * *"], "timeZone": ["UTC"], "plan": ["p-1"], "name": ["x1", "Xy-2"], "flow": ["greet"],
        "registrationTTL": ["P1D", "P90DT1H30M0.5S"], "username": ["zoe"], "pace": ["1/s", "999999999/h"],
        "tolerance": ["0", "0.5%", "100%", "999999999"], "collapseId": ["a", String(repeating: "~", count: 64)],
        "expect": ["1:\(String(repeating: "a", count: 64))"], "tag": ["news", "$UserId:{ana}", "$InstallationId:{a-1}"], "user": ["ana"],
        "^(?:[A-Za-z0-9_]{1,120})$": ["a", String(repeating: "_", count: 120)], "^(?:[0-9]{1,18})$": ["0", "999999999999999999"],
        "^(?:[0-9]{1,9})$": ["0", "999999999"],
        "^(?:i[0-9]{1,9}|r[0-9]{0,9})$": ["i0", "i999999999", "r", "r999999999"], "^(?:(?:[0-9a-f]{2})+)$": ["61", "6162"],
        #"^(?:[0-9]{1,9}\.[\#(JSONSchema.tagCharacters)]{1,120})$"#: ["1.news"],
    ]

    private static let instances = SchemaInstances(document: document, examples: examples)

    /// Whether the fault is in the meaning of a value rather than its form.
    private static func isMeaning(_ code: String) -> Bool {
        ["credential.", "payload.", "handle."].contains { code.hasPrefix($0) } || ["args.invalid", "hub.name"].contains(code)
    }

    private func bench() async throws -> ManagementBench {
        let flows = FlowDispatcher(
            store: MemoryRunStore(), executor: ScriptedFlows(), clock: VirtualClock(now: HubBench.startTime), zones: OnlyUTC(),
            start: { work in Task { await work() } })
        try await flows.begin([ServedFlow(name: "greet", script: "greet.lua", arguments: [:], triggers: FlowTriggers(access: .key(.send)))])
        return try await ManagementBench(flows: flows)
    }

    @Test func `bodies that the document allows are not refused for their form`() async throws {
        var count = 0
        for route in ManagementRoute.all where route.body != nil {
            let operation = Self.document["paths"]?[route.operation.path]?[route.operation.method.rawValue.lowercased()]
            let schema = try #require(operation?["requestBody"]?["content"]?["application/json"]?["schema"])
            let path = route.operation.path.replacing("{hub}", with: "hub").replacing("{flow}", with: "greet").replacing(
                "{name}", with: "x"
            )
            .replacing("{id}", with: "1").replacing("{user}", with: "x").replacing("{schedule}", with: "x")
            let bench = try await bench()
            let bodies = Self.instances.values(schema, for: "")
            // A pattern without an example gives no values.
            #expect(!bodies.isEmpty, "\(route.operation.name)")
            for body in bodies where body.serialized().count < ManagementCall.bodyLimit {
                count += 1
                guard let refusal = await bench.refusal(route.operation.method, path, body) else { continue }
                let isForm = refusal.status == 400 && !Self.isMeaning(refusal.code)
                #expect(!isForm, "\(route.operation.name) \(body.text().prefix(300)): \(refusal.code) \(refusal.message.prefix(200))")
            }
        }
        #expect(count > 300)
    }

    @Test func `parameters that the document allows are not refused for their form`() async throws {
        let bench = try await bench()
        for route in ManagementRoute.all where !route.parameters.isEmpty {
            let operation = Self.document["paths"]?[route.operation.path]?[route.operation.method.rawValue.lowercased()]
            let parameters = operation?["parameters"]?.array?.filter { $0["in"] == "query" } ?? []
            let path = route.operation.path.replacing("{hub}", with: "hub").replacing("{id}", with: "1")
            for parameter in parameters {
                let name = try #require(parameter["name"]?.string)
                let required = parameters.filter { $0["required"] == true && $0["name"]?.string != name }
                #expect(required.isEmpty, "\(route.operation.name) needs values for several parameters")
                for value in Self.instances.values(parameter["schema"] ?? .null, for: name) {
                    // Query parameters have no fractional numbers.
                    if case .number = value { continue }
                    let text = value.string ?? value.text()
                    // A longer head is refused with 431 before its parameters are read.
                    if text.utf8.count > 64 << 10 { continue }
                    guard let refusal = await bench.refusal(route.operation.method, "\(path)?\(name)=\(PercentEncoding.encode(text))", nil)
                    else {
                        continue
                    }
                    #expect(
                        refusal.status != 400,
                        "\(route.operation.name) \(name)=\(text.prefix(100)): \(refusal.code) \(refusal.message.prefix(200))")
                }
            }
        }
    }
}

import HTTPTypes
import HubWire
import PushCore

// Tags: which there are, how many registrations have each, and what expressions of them mean.
extension ManagementRoute {
    static let tags: [ManagementRoute] = [
        ManagementRoute(
            .get, "/api/v1/hubs/{hub}/tags", "listTags", "The tags in use, those of most registrations first", .hub, .manage,
            [
                Parameter(name: "prefix", schema: .text("What the tags begin with, in any case", length: 0...120)), .top,
                .continuation(#"[0-9]{1,9}\.[\#(JSONSchema.tagCharacters)]{1,120}"#),
            ],
            answer: .ok(
                "A page of tags", .page(of: .object("TagCount", ["tag": .text(), "registrations": .integer()])))
        ) { call async throws(PushError) in
            let page = try await call.hub.service.tags(prefix: call.text("prefix") ?? "", page: call.page)
            return call.list(page.tags.map(\.json), continuation: page.continuation)
        },
        ManagementRoute(
            .get, "/api/v1/hubs/{hub}/tags/explain", "explainTags",
            "The parts of a tag expression, each with how many registrations satisfy it at this moment", .hub, .manage,
            [Parameter(name: "expression", schema: expression, isRequired: true)],
            answer: .ok(
                "The parts",
                .object(
                    "TagExplanation",
                    [
                        "expression": .text("As it is understood"), "registrations": .integer("All there are in the hub"),
                        "matched": .integer("How many satisfy the whole expression"),
                        "parts": .list(
                            "Each before its own parts; the first is the whole expression",
                            of: .object(
                                "TagPart",
                                [
                                    "depth": .integer("0 for the whole expression, 1 for its terms, and so on"), "text": .text(),
                                    "registrations": .integer("How many satisfy it"),
                                    "nearest?": .object(
                                        "NearestTag",
                                        ["tag": .text("The one in use that was likely meant"), "registrations": .integer()]),
                                ])),
                        "azure?": .list("What Azure Notification Hubs would refuse, in words", of: .text()),
                    ]))
        ) { call async throws(PushError) in
            let expression = try TagExpression(given: call.text("expression") ?? "")
            let counts = await (try call.hub).service.count(expression)
            return call.answer(counts.json(of: expression))
        },
        ManagementRoute(
            .post, "/api/v1/tags/prove", "proveTags",
            "Whether two tag expressions name the same registrations, whatever these may be; else the smallest one that tells them apart",
            .server, .send, body: .object("TagComparison", ["first": expression, "second": expression]),
            answer: .ok(
                "What came of it",
                .object(
                    "TagProof",
                    [
                        "equal": .boolean("Whether they name the same, whatever is registered"),
                        "example?": .object(
                            "TagExample",
                            [
                                "tags": .list("Of a registration with as few as any that the two differ on", of: .text()),
                                "takenBy": .choice("Which of the two names it", ["first", "second"]),
                            ]),
                    ])), refusals: [403, 422]
        ) { call async throws(PushError) in
            let proof = try TagProof(
                of: try TagExpression(given: call.body["first"]?.string ?? ""),
                and: try TagExpression(given: call.body["second"]?.string ?? ""))
            return call.answer(proof.json)
        },
    ]

    private static let expression = JSONSchema.text("A tag expression", length: 1...JSONSchema.longest)
}

extension TagExpression {
    /// Throws `tag_expression.invalid` (400).
    init(given text: String) throws(PushError) {
        do {
            try self.init(parsing: text)
        } catch {
            throw PushError(error)
        }
    }
}

extension TagCount {
    fileprivate var json: JSON { ["tag": .string(tag.text), "registrations": .count(registrations)] }
}

extension TagCounts {
    fileprivate func json(of expression: TagExpression) -> JSON {
        let findings = expression.azureFindings()
        return .members([
            "expression": .string(expression.description), "registrations": .count(registrations),
            "matched": .count(parts.first?.registrations ?? 0),
            "parts": .array(
                parts.map { part in
                    .members([
                        "depth": .count(part.depth), "text": .string(part.text), "registrations": .count(part.registrations),
                        "nearest": part.nearest?.json,
                    ])
                }), "azure": findings.isEmpty ? nil : .array(findings.map { .string($0) }),
        ])
    }
}

extension TagProof {
    package var json: JSON {
        switch self {
        case .equal: ["equal": true]
        case .different(let example):
            [
                "equal": false,
                "example": [
                    "tags": .array(example.tags.map { .string($0.text) }), "takenBy": .string(example.isFirst ? "first" : "second"),
                ],
            ]
        }
    }
}

import HTTPTypes
import HubWire
import PushHub
package import PushModel

/// Routes for tags: the tags in use, registrations per tag, and the meaning of tag expressions.
enum TagManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get("/api/v1/hubs/{hub}/tags", "listTags", "The tags in use, most frequent first"),
            .hub(.manage),
            [
                .query("prefix", .text("Prefix of the tags, case-insensitive", length: 0...120)), .top,
                .continuation(#"[0-9]{1,9}\.[\#(JSONSchema.tagCharacters)]{1,120}"#),
            ],
            answer: .ok(
                "A page of tags", .page(of: .object("TagCount", ["tag": .text(), "registrations": .integer()])))
        ) { call async throws(PushError) in
            let page = try await call.hub.service.tags(prefix: call.text("prefix") ?? "", page: call.page)
            return call.list(page.tags.map(\.json), continuation: page.continuation)
        },
        ManagementRoute(
            .get(
                "/api/v1/hubs/{hub}/tags/explain", "explainTags",
                "The parts of a tag expression, each with the number of registrations that match now"),
            .hub(.manage), [.query("expression", expression, isRequired: true)],
            answer: .ok(
                "The parts",
                .object(
                    "TagExplanation",
                    [
                        "expression": .text("The expression as parsed"), "registrations": .integer("All registrations in the hub"),
                        "matched": .integer("Registrations that match the whole expression"),
                        "parts": .list(
                            "Each followed by its own parts; the first is the whole expression",
                            of: .object(
                                "TagPart",
                                [
                                    "depth": .integer("0 for the whole expression, 1 for its terms, and so on"), "text": .text(),
                                    "registrations": .integer("Registrations that match it"),
                                    "nearest?": .object(
                                        "NearestTag",
                                        ["tag": .text("The tag in use that was probably meant"), "registrations": .integer()]),
                                ])),
                        "azure?": .list("What Azure Notification Hubs would reject", of: .text()),
                    ]))
        ) { call async throws(PushError) in
            let expression = try TagExpression(given: call.text("expression") ?? "")
            let counts = await (try call.hub).service.count(expression)
            return call.answer(counts.json(of: expression))
        },
        ManagementRoute(
            .post(
                "/api/v1/tags/prove", "proveTags",
                "Compare two tag expressions for all possible registrations; if they differ, return the smallest counterexample"),
            .server(.send), body: .object("TagComparison", ["first": expression, "second": expression]),
            answer: .ok(
                "The result",
                .object(
                    "TagProof",
                    [
                        "equal": .boolean("Whether they match the same registrations, whatever these are"),
                        "example?": .object(
                            "TagExample",
                            [
                                "tags": .list("Tags of a smallest registration on which the two differ", of: .text()),
                                "takenBy": .choice("Which of the two matches it", ["first", "second"]),
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

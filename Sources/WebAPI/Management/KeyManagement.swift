import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes for keys: authorization rules of the server and of a hub.
enum KeyManagement {
    static let routes =
        routes(at: "/api/v1/keys", .server(.manage), "ServerKey", "of the server")
        + routes(at: "/api/v1/hubs/{hub}/keys", .hub(.manage), "HubKey", "of a hub")

    /// - Parameters:
    ///   - noun: The suffix of operation names.
    ///   - whose: The suffix of summaries.
    private static func routes(
        at path: String, _ access: ManagementRoute.Access, _ noun: String, _ whose: String
    ) -> [ManagementRoute] {
        [
            ManagementRoute(
                .get(path, "list\(noun)s", "The rules \(whose), in creation order"),
                access, [.query("reveal", .boolean("Whether to show the keys"))],
                answer: .ok("The rules", .object("Keys", ["items": .list(of: key)])),
                audit: AuditRule(.keyReveal) { call, _ in
                    guard call.values["reveal"]?.bool == true else { return nil }
                    return (call.names["hub"].map { "keys of the hub \($0)" } ?? "keys of the server", [:])
                }
            ) { call async throws(PushError) in
                let rules = call.names["hub"] == nil ? call.namespace.rules : try call.hub.record.description.rules
                let isRevealed = call.values["reveal"]?.bool == true
                return call.list(rules.map { $0.json(isRevealed: isRevealed) }, continuation: nil)
            },
            ManagementRoute(
                .post(path, "create\(noun)", "Create a rule \(whose) with two new keys"),
                access,
                body: .object(
                    "NewKey", ["name": .ruleName, "rights": .list(of: .right, least: 1), "ceiling?": .integer(ceiling, 1...1_000_000_000)]),
                answer: .created("The rule with its keys", key), refusals: [409],
                audit: AuditRule(.keyCreate) { call, _ in
                    var details = ["rights": (call.body["rights"]?.array ?? []).compactMap(\.string).joined(separator: ", ")]
                    details["ceiling"] = call.body["ceiling"]?.int.map { String($0) }
                    return (call.keyName, details)
                }
            ) { call async throws(PushError) in
                let name = call.body["name"]?.string ?? ""
                let rights = call.body["rights"]?.array?.compactMap { $0.string.flatMap { AuthorizationRule.Right(rawValue: $0) } }
                let rule = try await call.namespace.ruleEditor.add(
                    name, Set(rights ?? []), ceiling: call.body["ceiling"]?.int, to: call.names["hub"], while: call.permission)
                return call.answer(
                    rule.json(isRevealed: true), .created, location: "\(call.request.path)/\(PercentEncoding.encode(name))")
            },
            ManagementRoute(
                .post("\(path)/{name}/rotate", "rotate\(noun)", "Replace a key of a rule \(whose)"),
                access,
                body: .object(
                    "Rotation", ["key": .choice("The key to replace immediately", RuleEditor.Key.allCases.map(\.rawValue))]),
                answer: .ok("The rule with its keys", key),
                audit: AuditRule(.keyRotate) { call, _ in (call.keyName, ["value": call.body["key"]?.string ?? ""]) }
            ) { call async throws(PushError) in
                let which = call.body["key"]?.string.flatMap { RuleEditor.Key(rawValue: $0) } ?? .primary
                let rule = try await call.namespace.ruleEditor.rotate(
                    which, of: call.name("name"), in: call.names["hub"], while: call.permission)
                return call.answer(rule.json(isRevealed: true))
            },
            ManagementRoute(
                .delete("\(path)/{name}", "delete\(noun)", "Delete a rule \(whose) with both its keys"),
                access, answer: .deleted, refusals: [409], audit: AuditRule(.keyRevoke) { call, _ in (call.keyName, [:]) }
            ) { call async throws(PushError) in
                try await call.namespace.ruleEditor.remove(call.name("name"), from: call.names["hub"], while: call.permission)
                return WebAnswer(.noContent)
            },
        ]
    }

    private static let ceiling = "Maximum number of devices per send without approval; not allowed with Manage"

    private static let key = JSONSchema.object(
        "Key",
        [
            "name": .text(), "rights": .list(of: .right), "createdAt": .timestamp(), "modifiedAt": .timestamp(),
            "ceiling?": .integer(ceiling, 1...Int64.max), "primaryKey?": .text("If keys are shown"),
            "secondaryKey?": .text("If keys are shown"),
        ])
}

extension ManagementCall {
    /// The key's principal as text.
    fileprivate var keyName: String {
        Principal.key(names["name"] ?? body["name"]?.string ?? "", hub: names["hub"].map { namespace.hub($0)?.record.name ?? $0 })
            .description
    }
}

extension AuthorizationRule {
    fileprivate func json(isRevealed: Bool) -> JSON {
        .members([
            "name": .string(name), "rights": .array(rights.sorted().map { .string($0.rawValue) }), "createdAt": .timestamp(createdAt),
            "modifiedAt": .timestamp(modifiedAt), "ceiling": ceiling.map { .count($0) },
            "primaryKey": isRevealed ? .string(primaryKey.reveal()) : nil,
            "secondaryKey": isRevealed ? .string(secondaryKey.reveal()) : nil,
        ])
    }
}

import HTTPTypes
import HubWire
import PushCore

// Keys: rules of the server and of a hub, with their pairs of keys.
extension ManagementRoute {
    static let keys =
        keys(at: "/api/v1/keys", .server, "ServerKey", "of the server") + keys(at: "/api/v1/hubs/{hub}/keys", .hub, "HubKey", "of a hub")

    /// - Parameters:
    ///   - noun: the end of the names of the operations.
    ///   - whose: the end of their summaries.
    private static func keys(at path: String, _ scope: Scope, _ noun: String, _ whose: String) -> [ManagementRoute] {
        [
            ManagementRoute(
                .get, path, "list\(noun)s", "The rules \(whose), in the order of their making", scope, .manage,
                [Parameter(name: "reveal", schema: .boolean("Whether the keys are shown"))],
                answer: .ok("The rules", .object("Keys", ["items": .list(of: key)])),
                noted: Noted(.keyReveal) { call, _ in
                    guard call.values["reveal"]?.bool == true else { return nil }
                    return (call.names["hub"].map { "keys of the hub \($0)" } ?? "keys of the server", [:])
                }
            ) { call async throws(PushError) in
                let rules = call.names["hub"] == nil ? call.namespace.rules : try call.hub.record.description.rules
                let isRevealed = call.values["reveal"]?.bool == true
                return call.list(rules.map { $0.json(isRevealed: isRevealed) }, continuation: nil)
            },
            ManagementRoute(
                .post, path, "create\(noun)", "Add a rule \(whose), with two new keys", scope, .manage,
                body: .object(
                    "NewKey", ["name": .ruleName, "rights": .list(of: .right, least: 1), "ceiling?": .integer(ceiling, 1...1_000_000_000)]),
                answer: .created("The rule with its keys", key), refusals: [409],
                noted: Noted(.keyCreate) { call, _ in
                    var details = ["rights": (call.body["rights"]?.array ?? []).compactMap(\.string).joined(separator: ", ")]
                    details["ceiling"] = call.body["ceiling"]?.int.map { String($0) }
                    return (call.keyName, details)
                }
            ) { call async throws(PushError) in
                let name = call.body["name"]?.string ?? ""
                let rights = call.body["rights"]?.array?.compactMap { $0.string.flatMap { AuthorizationRule.Right(rawValue: $0) } }
                let rule = try await call.namespace.addRule(
                    name, Set(rights ?? []), ceiling: call.body["ceiling"]?.int, to: call.names["hub"], while: call.permission)
                return call.answer(
                    rule.json(isRevealed: true), .created, location: "\(call.request.path)/\(PercentEncoding.encode(name))")
            },
            ManagementRoute(
                .post, "\(path)/{name}/rotate", "rotate\(noun)", "Give a rule \(whose) a new key in place of one", scope, .manage,
                body: .object(
                    "Rotation", ["key": .choice("Which key is replaced at once", Namespace.Key.allCases.map(\.rawValue))]),
                answer: .ok("The rule with its keys", key),
                noted: Noted(.keyRotate) { call, _ in (call.keyName, ["value": call.body["key"]?.string ?? ""]) }
            ) { call async throws(PushError) in
                let which = call.body["key"]?.string.flatMap { Namespace.Key(rawValue: $0) } ?? .primary
                let rule = try await call.namespace.rotate(which, of: call.name("name"), in: call.names["hub"], while: call.permission)
                return call.answer(rule.json(isRevealed: true))
            },
            ManagementRoute(
                .delete, "\(path)/{name}", "delete\(noun)", "Take a rule \(whose) away, with both its keys", scope, .manage,
                answer: .deleted, refusals: [409], noted: Noted(.keyRevoke) { call, _ in (call.keyName, [:]) }
            ) { call async throws(PushError) in
                try await call.namespace.removeRule(call.name("name"), from: call.names["hub"], while: call.permission)
                return WebAnswer(.noContent)
            },
        ]
    }

    private static let ceiling = "Most devices that one send may reach without somebody else's leave; never with Manage"

    private static let key = JSONSchema.object(
        "Key",
        [
            "name": .text(), "rights": .list(of: .right), "createdAt": .moment(), "modifiedAt": .moment(),
            "ceiling?": .integer(ceiling, 1...Int64.max), "primaryKey?": .text("Where keys are shown"),
            "secondaryKey?": .text("Where keys are shown"),
        ])
}

extension ManagementCall {
    /// As principals are written.
    fileprivate var keyName: String {
        Principal.key(names["name"] ?? body["name"]?.string ?? "", hub: names["hub"].map { namespace.hub($0)?.record.name ?? $0 })
            .description
    }
}

extension AuthorizationRule {
    fileprivate func json(isRevealed: Bool) -> JSON {
        .members([
            "name": .string(name), "rights": .array(rights.sorted().map { .string($0.rawValue) }), "createdAt": .moment(createdAt),
            "modifiedAt": .moment(modifiedAt), "ceiling": ceiling.map { .count($0) },
            "primaryKey": isRevealed ? .string(primaryKey.reveal()) : nil,
            "secondaryKey": isRevealed ? .string(secondaryKey.reveal()) : nil,
        ])
    }
}

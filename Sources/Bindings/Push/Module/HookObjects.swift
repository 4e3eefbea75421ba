import Lua
import PushModel

/// Arguments of hooks and routes. Their fields are created when a script reads them, so that unused fields cost nothing.
enum HookObjects {
    static let types: [LuaObjectType] = [send, sent, group, ended, registration, login, secureFetch, request]

    static func object(_ draft: SendDraft) -> LuaValue { .object(LuaObject(type: "draft", payload: draft)) }
    static func object(_ sent: SentNotification) -> LuaValue { .object(LuaObject(type: "sent", payload: sent)) }
    static func object(_ group: any HookedGroup) -> LuaValue { .object(LuaObject(type: "group", payload: GroupObject(group))) }
    static func object(_ ended: EndedNotification) -> LuaValue { .object(LuaObject(type: "ended", payload: ended)) }
    static func object(_ draft: RegistrationDraft) -> LuaValue { .object(LuaObject(type: "candidate", payload: draft)) }
    static func object(_ login: LoginDraft) -> LuaValue { .object(LuaObject(type: "login", payload: login)) }
    static func object(_ fetch: SecureFetch) -> LuaValue { .object(LuaObject(type: "secure_fetch", payload: fetch)) }
    static func object(_ request: RoutedRequest) -> LuaValue { .object(LuaObject(type: "request", payload: request)) }

    static let send = LuaObjectType.handle(
        "draft", of: SendDraft.self, describe: { "draft to \($0.request.audience.words)" },
        properties: requestProperties { $0.request }.merging([
            "hub": { .string($0.hub) },
            "at": { .time($0.dueTime) },
            "origin": { .list($0.origin) },
        ]) { $1 })

    static let sent = LuaObjectType.handle(
        "sent", of: SentNotification.self, describe: { "notification \($0.id)" },
        properties: requestProperties { $0.draft.request }.merging([
            "id": { .string($0.id) },
            "hub": { .string($0.draft.hub) },
            "at": { .time($0.draft.dueTime) },
            "origin": { .list($0.draft.origin) },
        ]) { $1 })

    static let group = LuaObjectType.handle(
        "group", of: GroupObject.self, describe: { "group of \($0.group.count) devices" },
        properties: requestProperties { $0.group.request }.merging([
            "hub": { .string($0.group.hub) },
            "notification": { .string($0.group.notificationID) },
            "platform": { .string($0.group.platform.shortName) },
            "count": { .integer(Int64($0.group.count)) },
            "direct": { .boolean($0.group.isDirect) },
            "origin": { .list($0.group.origin) },
        ]) { $1 })

    static let ended = LuaObjectType.handle(
        "ended", of: EndedNotification.self, describe: { "notification \($0.outcome.id), \($0.outcome.state.rawValue)" },
        properties: [
            "hub": { .string($0.hub) },
            "id": { .string($0.outcome.id) },
            "state": { .string($0.outcome.state.rawValue) },
            "tags": { $0.outcome.tags.map(LuaValue.string) ?? .nil },
            "sent": { .integer(Int64($0.outcome.sent)) },
            "failed": { .integer(Int64($0.outcome.failed)) },
            "total": { .integer(Int64($0.outcome.total)) },
            "enqueued_at": { .time($0.outcome.enqueuedAt) },
            "started_at": { .time($0.outcome.startedAt) },
            "ended_at": { .time($0.outcome.endedAt) },
            "notices": { .list($0.outcome.notices.map(\.text)) },
            "origin": { .list($0.origin) },
            "counts": { ended in
                .table(
                    LuaTable(
                        fields: Dictionary(
                            uniqueKeysWithValues: ended.outcome.counts.map { platform, counts in
                                let fields = counts.map { ($0.rawValue, LuaValue.integer(Int64($1))) }
                                return (platform.shortName, .table(LuaTable(fields: Dictionary(uniqueKeysWithValues: fields))))
                            })))
            },
        ])

    static let registration = LuaObjectType.handle(
        "candidate", of: RegistrationDraft.self, describe: { "\($0.subject.kind.rawValue) \($0.subject.id)" },
        properties: [
            "hub": { .string($0.hub) },
            "kind": { .string($0.subject.kind.rawValue) },
            "id": { .string($0.subject.id) },
            "platform": { .string($0.subject.platform.shortName) },
            "user": { $0.subject.userID.map(LuaValue.string) ?? .nil },
            "tags": { .list($0.tags.map(\.text)) },
            "templates": { .list($0.templates) },
            "is_new": { .boolean($0.isNew) },
            "origin": { .list($0.origin) },
        ])

    static let login = LuaObjectType.handle(
        "login", of: LoginDraft.self, describe: { "login of \($0.username)" },
        properties: [
            "username": { .string($0.username) },
            "address": { $0.address.map(LuaValue.string) ?? .nil },
            "unproved": { .boolean($0.isUnproved) },
        ])

    static let secureFetch = LuaObjectType.handle(
        "secure_fetch", of: SecureFetch.self, describe: { "secure payload \($0.id)" },
        properties: [
            "id": { .string($0.id) },
            "username": { .string($0.username) },
        ])

    static let request = LuaObjectType.handle(
        "request", of: RoutedRequest.self, describe: { "\($0.request.method) \($0.path)" },
        properties: [
            "method": { .string($0.request.method) },
            "path": { .string($0.path) },
            "params": { $0.parameters },
            "headers": { .table(LuaTable(fields: $0.request.headers.mapValues(LuaValue.string))) },
            "body": { String(validating: $0.request.body, as: UTF8.self).map(LuaValue.string) ?? .bytes($0.request.body) },
            "json": { LuaValue(body: $0.request.body) },
            "user": { $0.request.username.map(LuaValue.string) ?? .nil },
            "delivery": { $0.request.deliveryID.map(LuaValue.string) ?? .nil },
        ])

    /// Fields common to all notifications.
    private static func requestProperties<Payload: Sendable>(
        _ request: @escaping @Sendable (Payload) -> NotificationRequest
    ) -> [String: @Sendable (Payload) -> LuaValue] {
        [
            "to": { request($0).audience.expression.map { .string($0.description) } ?? .nil },
            "audience": { .string(request($0).audience.kind) },
            "content": { .string(request($0).content.kind) },
            "properties": { payload in
                guard case .template(let properties) = request(payload).content else { return .nil }
                return .table(LuaTable(fields: properties.mapValues(LuaValue.string)))
            },
            "payload": { payload in
                guard case .native(let payloads) = request(payload).content else { return .nil }
                let texts = payloads.map { ($0.key.shortName, LuaValue.string(String(decoding: $0.value.body, as: UTF8.self))) }
                return .table(LuaTable(fields: Dictionary(uniqueKeysWithValues: texts)))
            },
            "priority": { request($0).options.priority.map { .string($0.rawValue) } ?? .nil },
            "collapse_id": { request($0).options.collapseID.map(LuaValue.string) ?? .nil },
            "expires_at": { .time(request($0).options.expiration) },
            "test": { .boolean(request($0).isTest) },
        ]
    }
}

/// The argument of a route's function.
struct RoutedRequest: Sendable {
    var request: PluginRequest
    /// Checked parameters from the path and the query.
    var parameters: LuaValue

    var path: String { "/" + request.path.joined(separator: "/") }
}

/// The devices of one platform, as passed to a hook.
final class GroupObject: Sendable {
    let group: any HookedGroup

    init(_ group: any HookedGroup) { self.group = group }
}

extension Audience {
    /// The kind of audience.
    fileprivate var kind: String {
        switch self {
        case .everyone: "everyone"
        case .expression: "expression"
        case .device, .devices: "devices"
        }
    }

    fileprivate var words: String { expression?.description ?? kind }
}

extension NotificationContent {
    fileprivate var kind: String {
        switch self {
        case .template: "template"
        case .native: "native"
        }
    }
}

extension LuaValue {
    fileprivate static func list(_ texts: [String]) -> LuaValue { .table(LuaTable(array: texts.map(LuaValue.string))) }

    fileprivate static func time(_ timestamp: Timestamp?) -> LuaValue { timestamp.map { .string($0.description) } ?? .nil }
}

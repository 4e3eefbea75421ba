import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel

/// An authorized request to a route of the JSON API, with validated parameters and body.
struct ManagementCall: Sendable {
    /// Maximum size of a body in bytes.
    static let bodyLimit = 256 << 10

    let request: WebRequest
    let namespace: Namespace
    private let services: ManagementServices
    /// The values of the path's placeholders.
    let names: [String: String]
    /// The query parameters that the route knows and the request contains.
    let values: [String: JSON]
    /// Empty if the route has no body.
    let body: JSONObject
    /// The caller.
    let principal: Principal
    /// The rule that authorizes the call.
    let rule: AuthorizationRule
    private let served: ServedHub?
    let access: HubAccess
    private let route: ManagementRoute

    init(
        _ route: ManagementRoute, _ names: [String: String], _ request: WebRequest, _ access: HubAccess, _ services: ManagementServices
    ) async throws(PushError) {
        (self.request, self.access, self.route, self.services, self.names) = (request, access, route, services, names)
        namespace = access.namespace
        served = names["hub"].flatMap { [namespace] in namespace.hub($0) }
        rule = try Self.authorize(route, served, request) { request, hub throws(PushError) in
            try access.authorize(request, route.access.right, hub, acceptsKey: route.access.acceptsKey)
        }
        principal = access.principal(rule, served)
        if let name = names["hub"], served == nil { throw Self.noHub(name) }
        values = try Self.values(route, request.query)
        guard let schema = route.body else {
            body = JSONObject()
            return
        }
        let bytes = try await request.body.read(limit: Self.bodyLimit)
        try Self.recheck(route, served, request, access)
        body = try Self.body(bytes, schema)
    }

    /// Checks the authorization again when a queued change is about to be executed.
    var permission: Namespace.Permission {
        { [route, served, request, access] () throws(PushError) in try Self.recheck(route, served, request, access) }
    }

    /// The hub named in the path.
    var hub: ServedHub {
        get throws(PushError) {
            guard let served else { throw Self.noHub(name("hub")) }
            return served
        }
    }

    var accounts: AccountService { services.accounts }
    /// Operations on hubs' credentials.
    var credentials: CredentialServices { services.credentials }

    var flows: FlowDispatcher {
        get throws(PushError) {
            if let flows = services.flows { return flows }
            throw PushError("request.path", "this server runs no flows", hint: "use a server started with pushhost serve", status: 404)
        }
    }

    private static func noHub(_ name: String) -> PushError {
        PushError("hub.not_found", "unknown hub \"\(name)\"", hint: "check its name", status: 404)
    }

    /// The caller's name.
    var actor: String { principal.description }

    /// The value of a placeholder in the path.
    func name(_ name: String) -> String { names[name] ?? "" }

    func text(_ parameter: String) -> String? { values[parameter]?.string }

    var top: Int { values["top"]?.int ?? 100 }
    var page: Page { Page(top: top, continuation: text("continuation")) }

    /// The admission check for a send by this call.
    func admission(note: String?) throws(PushError) -> SendAdmission? {
        access.admission(of: principal, rule, to: try hub, request, note: note)
    }

    func credentials(of hub: ServedHub) -> [HubCredential] { services.credentials.credentials(hub.record) }

    // MARK: - Answers

    func answer(_ json: JSON, _ status: HTTPResponse.Status = .ok, location: String? = nil) -> WebAnswer {
        var answer = WebAnswer(status, "application/json", json.serialized())
        if let location { answer.fields[.location] = request.server.base + location }
        return answer
    }

    func list(_ items: [JSON], continuation: String?) -> WebAnswer {
        answer(.members(["items": .array(items), "continuation": continuation.map { .string($0) }]))
    }

    // MARK: - Checks

    /// Authorizes a request. A token for the hub's own address is valid for the same hub here.
    private static func authorize<Allowance>(
        _ route: ManagementRoute, _ hub: ServedHub?, _ request: WebRequest,
        _ check: (WebRequest, ServedHub?) throws(PushError) -> Allowance
    ) throws(PushError) -> Allowance {
        let rules = route.access.scope == .hub ? hub : nil
        do throws(PushError) {
            return try check(request, rules)
        } catch {
            guard error.code == "sas.audience", let hub else { throw error }
            var own = request
            own.path = "/\(hub.record.name)"
            return try check(own, rules)
        }
    }

    private static func recheck(
        _ route: ManagementRoute, _ hub: ServedHub?, _ request: WebRequest, _ access: HubAccess
    ) throws(PushError) {
        try authorize(route, hub, request) { request, rules throws(PushError) in
            try access.recheck(request, route.access.right, rules, acceptsKey: route.access.acceptsKey)
        }
        // The server's keys grant access to every hub, but this request was for the hub that existed then.
        guard hub.map({ access.namespace.hub($0.record.name)?.record.number == $0.record.number }) ?? true else {
            throw noHub(hub?.record.name ?? "")
        }
    }

    private static func values(_ route: ManagementRoute, _ query: RequestQuery) throws(PushError) -> [String: JSON] {
        let known = route.parameters.map(\.name)
        for (name, _) in query.items where !known.contains(where: { $0.lowercased() == name.lowercased() }) && !isCommon(name) {
            throw PushError(
                "request.parameter", "unknown parameter \"\(name)\"",
                hint: nearest(name, in: known).map { "did you mean \"\($0)\"?" }
                    ?? (known.isEmpty ? "leave it out" : "known parameters: \(known.joined(separator: ", "))"), status: 400)
        }
        try query.checkUnique()
        var values: [String: JSON] = [:]
        for parameter in route.parameters {
            guard let text = query[parameter.name] else {
                guard parameter.isRequired else { continue }
                throw PushError(
                    "request.parameter", "the parameter \"\(parameter.name)\" is missing", hint: "add \(parameter.name)=…", status: 400)
            }
            let value = parameter.schema.value(of: text)
            do throws(JSONSchema.Flaw) {
                try parameter.schema.check(value, "the parameter \(parameter.name)")
            } catch {
                throw PushError("request.parameter", error.message, hint: error.hint, status: 400)
            }
            values[parameter.name] = value
        }
        return values
    }

    /// Azure's clients add their version to every address.
    private static func isCommon(_ name: String) -> Bool { name.lowercased() == "api-version" }

    private static func body(_ bytes: [UInt8], _ schema: JSONSchema) throws(PushError) -> JSONObject {
        let json = try JSON(body: bytes, numbers: .lossless, hint: "send a JSON object")
        do throws(JSONSchema.Flaw) {
            try schema.check(json, "the body")
        } catch {
            throw PushError("request.body", error.message, hint: error.hint, status: 400)
        }
        // Payloads for push services and push variables are passed on, so their numbers keep their text.
        let members = json.object?.members ?? []
        return JSONObject(members.map { ($0.key, ["native", "devices"].contains($0.key) ? $0.value : $0.value.numbersAsValues) })
    }
}

extension JSONSchema {
    /// The JSON value of a query parameter; a string if it does not match the schema's type.
    fileprivate func value(of text: String) -> JSON {
        switch kind {
        case .integer where text.utf8.allSatisfy { (0x30...0x39).contains($0) }: Int64(text).map { .integer($0) } ?? .string(text)
        case .boolean where text == "true" || text == "false": .bool(text == "true")
        default: .string(text)
        }
    }
}

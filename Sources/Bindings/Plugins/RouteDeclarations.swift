import Lua
import PushModel

extension PluginManifest {
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    private static let defaultBody = 1 << 20
    private static let largestBody = 8 << 20

    static func routes(_ table: ManifestTable) throws(LuaError) -> [Route] {
        var routes: [Route] = []
        for (index, value) in try table.list("routes", of: "routes").enumerated() {
            let path = "routes[\(index + 1)]"
            let declared = try ManifestTable(
                value, file: table.file, path: path,
                keys: ["method", "path", "params", "auth", "body_limit", "run", "cpu", "timeout"])
            let route = try route(declared)
            if let other = routes.firstIndex(where: { $0.method == route.method && $0.path.isAmbiguous(with: route.path) }) {
                throw LuaError.misuse(
                    "plugin.route_exists",
                    "\(table.file): \(path) \(route.method) \(route.path) conflicts with routes[\(other + 1)]",
                    hint: "give one of them another path or method", details: ["key": .string(path)])
            }
            routes.append(route)
        }
        return routes
    }

    private static func route(_ table: ManifestTable) throws(LuaError) -> Route {
        let method = try table.text("method") ?? "GET"
        guard methods.contains(method) else {
            throw table.refusal(
                "method", "must be one of \(methods.joined(separator: ", ")), got \"\(method)\"",
                hint: methods.contains(method.uppercased()) ? "write it in capitals" : nil)
        }
        let text = try table.requiredText("path", "a path such as \"/greetings/{name}\"")
        let pattern: PathPattern
        do throws(PathPattern.Unreadable) { pattern = try PathPattern(parsing: text) } catch {
            throw table.refusal("path", "\"\(text)\" \(error.reason)")
        }
        var parameters = ConfigSchema()
        if let declared = try table.table("params", keys: nil) { parameters = try ConfigSchema(declared) }
        for field in parameters.fields where !field.type.fitsQuery {
            throw table.refusal("params.\(field.name)", "is not allowed in a path or query", hint: "pass it in the body")
        }
        let limit = try table.number("body_limit") ?? Double(defaultBody)
        guard (0...Double(largestBody)).contains(limit), limit == limit.rounded() else {
            throw table.refusal("body_limit", "must be a number of bytes up to \(largestBody)")
        }
        return Route(
            method: method, path: pattern, parameters: parameters, authentication: try authentication(table), bodyLimit: Int(limit),
            work: try Work(table, cpu: .milliseconds(500), timeout: .seconds(10), longest: .seconds(60)))
    }

    private static func authentication(_ table: ManifestTable) throws(LuaError) -> RouteAuthentication {
        let forms = "\"open\", \"account\", { sas = \"send\" } or { webhook = \"NAME OF A SECRET\" }"
        switch table.fields["auth"] {
        case nil:
            throw table.refusal("auth", "is missing: it determines who may call the route", hint: "write auth = \(forms)")
        case .string("open"): return .open
        case .string("account"): return .account
        case .table:
            guard let auth = try table.table("auth", keys: ["sas", "webhook", "scheme"]) else { break }
            if let right = try auth.choice("sas", of: SASRight.self) {
                guard auth.fields.count == 1 else { break }
                return .sas(right)
            }
            guard let secret = try auth.text("webhook"), !secret.isEmpty else { break }
            return .webhook(secret: secret, scheme: try auth.choice("scheme", of: WebhookScheme.self) ?? .pushhost)
        case .string(let text):
            throw table.refusal(
                "auth", "must be \(forms), got \"\(text.prefix(60))\"",
                hint: nearest(text, in: ["open", "account"]).map { "did you mean \"\($0)\"?" })
        default: break
        }
        throw table.refusal("auth", "must be \(forms)")
    }
}

extension ConfigSchema.FieldType {
    var fitsQuery: Bool {
        switch self {
        case .string, .integer, .number, .boolean, .duration, .timeOfDay, .timeZone, .tag: true
        case .secret, .list, .map, .table: false
        }
    }
}

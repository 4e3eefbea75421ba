import HTTPTypes
import PushModel
import Testing

@testable import WebAPI

@Suite struct RouteMatchTests {
    /// A path, what it matches on a server with every part, its label in metrics and the format of its errors.
    struct Row: Sendable, CustomTestStringConvertible {
        let path: String
        let kind: String
        let label: String
        let format: RouteMatch.ErrorFormat
        let method: HTTPRequest.Method

        init(
            _ path: String, _ kind: String, _ label: String, _ format: RouteMatch.ErrorFormat, _ method: HTTPRequest.Method = .get
        ) {
            (self.path, self.kind, self.label, self.format, self.method) = (path, kind, label, format, method)
        }

        var testDescription: String { "\(method.rawValue) \(path)" }
    }

    private static func matcher(isFull: Bool = true) -> RouteMatcher {
        RouteMatcher(
            hasLab: isFull, hasControl: isFull, hasFlows: isFull,
            plugins: isFull ? ScriptedPlugins([ScriptedRoute(pattern: ["hello"])]) : nil)
    }

    private static func kind(_ match: RouteMatch) -> String {
        switch match {
        case .system(let page): "system \(page)"
        case .asterisk: "asterisk"
        case .lab: "lab"
        case .control(let operation): "control \(operation)"
        case .plugin(let path):
            switch path.match {
            case .found: "plugin \(path.plugin) found"
            case .otherMethods: "plugin \(path.plugin) otherMethods"
            case .notFound: "plugin \(path.plugin) notFound"
            }
        case .flow(let name): "flow \(name)"
        case .backend(let path): "backend \(path.hub ?? "-") \(path.resource)"
        case .management(.document): "document"
        case .management(.route(let route, let names)):
            "management \(([route.operation.name] + names.values.sorted()).joined(separator: " "))"
        case .management(.otherMethods(let methods, _)): "management not \(methods.map(\.rawValue).joined(separator: ","))"
        case .management(.unknownPath): "management unknown"
        case .hub(let path): "hub \(path)"
        case .invalid: "invalid"
        }
    }

    @Test(
        arguments: [
            // The server's own paths, exact in every letter.
            Row("/health/live", "system live", "hub", .xml), Row("/health/ready", "system ready", "hub", .xml, .head),
            Row("/metrics", "system metrics", "hub", .xml, .post), Row("/api/v1/about", "system about", "none", .problem, .delete),
            Row("/metrics/", #"hub hub("metrics")"#, "hub", .xml), Row("/Metrics", #"hub hub("Metrics")"#, "hub", .xml),
            Row("/api/v1/about/", "management unknown", "none", .problem), Row("*", "asterisk", "hub", .xml, .options),
            Row("*", "asterisk", "hub", .xml),
            // The owner's operations.
            Row("/api/v1/backup", "control backup", "none", .problem, .post), Row("/api/v1/restore", "control restore", "none", .problem),
            Row("/api/v1/apns/channels", "control channels", "none", .problem, .post),
            Row("/api/v1/server", "control server", "none", .problem), Row("/api/v1/plugins", "control plugins", "none", .problem, .head),
            Row("/api/v1/backup/", "management unknown", "none", .problem, .post),
            // The lab.
            Row("/lab/sessions", "lab", "/lab", .problem, .post), Row("/lab/sessions/s-1/clock", "lab", "/lab", .problem),
            Row("/lab/sessions/api/register", "lab", "/lab", .problem, .head),
            Row("/lab", #"hub hub("lab")"#, "hub", .xml), Row("/lab/sessionsx", #"hub hub("lab/sessionsx")"#, "hub", .xml),
            // Plugins.
            Row("/plugins/greet/hello", "plugin greet found", "/plugins", .problem),
            Row("/plugins/greet/hello", "plugin greet found", "/plugins", .problem, .head),
            Row("/plugins/greet/hello", "plugin greet otherMethods", "/plugins", .problem, .post),
            Row("/plugins/greet/hello/", "plugin greet notFound", "/plugins", .problem),
            Row("/plugins", "plugin  notFound", "/plugins", .problem),
            Row("/plugins/x/api/register", "plugin x notFound", "/plugins", .problem, .post),
            Row("/pluginsx", #"hub hub("pluginsx")"#, "hub", .xml),
            // Flows.
            Row("/flows/greet", "flow greet", "/flows", .problem, .post), Row("/flows/a%2Fb", "flow a/b", "/flows", .problem),
            Row("/flows/", #"hub hub("flows")"#, "hub", .xml), Row("/flows/a/b", #"hub hub("flows/a/b")"#, "hub", .xml),
            // The app backend, at the end of a path.
            Row("/api/register", "backend - register", "backend_register", .problem, .post),
            Row("/API/Register/", "backend - register", "backend_register", .problem),
            Row("/hub/api/notifications/7", #"backend hub notification("7")"#, "backend_notification", .problem, .head),
            Row("/hub/api/notifications/7/reads", #"backend hub reads("7")"#, "backend_reads", .problem),
            Row("/a/b/api/login", "backend a/b login", "backend_login", .problem, .post),
            Row("/api/logout", "backend - logout", "backend_logout", .problem),
            // The JSON API.
            Row("/openapi.json", "document", "/openapi.json", .problem), Row("/openapi.json", "document", "/openapi.json", .problem, .post),
            Row("/api/v1/hubs", "management listHubs", "/api/v1/hubs", .problem),
            Row("/api/v1/hubs", "management listHubs", "/api/v1/hubs", .problem, .head),
            Row("/api/v1/hubs", "management createHub", "/api/v1/hubs", .problem, .post),
            Row("/api/v1/hubs", "management not GET,POST", "/api/v1/hubs", .problem, .delete),
            Row("/api/v1/hubs/a%2Fb", "management getHub a/b", "/api/v1/hubs/{hub}", .problem),
            Row("/api/v1/hubs/a/b", "management unknown", "none", .problem), Row("/api/v1/hubs/", "management unknown", "none", .problem),
            Row("/api/v1//hubs", "management unknown", "none", .problem), Row("/API/v1/hubs", #"hub hub("API/v1/hubs")"#, "hub", .xml),
            Row("/api", "management unknown", "none", .problem), Row("/api/", "management unknown", "none", .problem),
            Row("/apix", #"hub hub("apix")"#, "hub", .xml),
            // The hub's own interface.
            Row("/", "hub hubs", "hubs", .xml), Row("/hub", #"hub hub("hub")"#, "hub", .xml, .patch),
            Row("/feedback/hub", #"hub feedback("hub")"#, "feedback", .xml),
            // Paths that no interface has.
            Row("/hub/../etc", "invalid", "none", .xml), Row("/messages", "invalid", "none", .xml, .post),
            Row("/hub/%00", "invalid", "none", .xml),
        ])
    func `a path and a method have one match, with its label and the format of its errors`(row: Row) {
        let match = Self.matcher().match(row.method, row.path)
        #expect(Self.kind(match) == row.kind)
        #expect(match.label == row.label)
        #expect(match.errorFormat == row.format)
    }

    @Test(
        arguments: [
            ("/hub/registrationIDs", "registrationids"), ("/hub/registrations/", "registrations"),
            ("/hub/registrations/1-2-3", "registration"), ("/hub/tags/a%20b/registrations", "registrations_by_tag"),
            ("/hub/installations/a%2Fb", "installation"), ("/a/b/messages", "messages"), ("/hub/messages/$batch", "batch"),
            ("/hub/messages/n-1", "telemetry"), ("/hub/schedulednotifications", "schedulednotifications"),
            ("/hub/schedulednotifications/n-1", "schedulednotification"), ("/hub/feedbackcontainer", "feedbackcontainer"),
            ("/hub/jobs", "jobs"), ("/hub/jobs/7", "job"),
        ])
    func `a path of a hub has the label of its route, whatever the method`(path: String, label: String) {
        for method in [HTTPRequest.Method.get, .head, .post, .put, .delete] {
            let match = Self.matcher().match(method, path)
            #expect(match.label == label && match.errorFormat == .xml)
        }
    }

    @Test(
        arguments: [
            ("/lab/sessions", #"hub hub("lab/sessions")"#), ("/lab/sessions/api/register", "backend lab/sessions register"),
            ("/plugins/greet/hello", #"hub hub("plugins/greet/hello")"#), ("/flows/greet", #"hub hub("flows/greet")"#),
            ("/api/v1/backup", "management unknown"), ("/api/v1/server", "management unknown"), ("/metrics", "system metrics"),
        ])
    func `a server without lab, owner's socket, plugins and flows has none of their paths`(path: String, kind: String) {
        #expect(Self.kind(Self.matcher(isFull: false).match(.get, path)) == kind)
    }

    @Test func `only the app backend handles HEAD itself and forbids caching, and only plugins decode bodies`() {
        for (path, isBackend, isPlugin) in [
            ("/hub/api/notifications/7", true, false), ("/plugins/greet/hello", false, true), ("/api/v1/hubs", false, false),
            ("/hub/messages", false, false), ("/flows/greet", false, false), ("/lab/sessions", false, false),
        ] {
            let match = Self.matcher().match(.head, path)
            #expect(match.treatsHeadAsGet != isBackend && match.isPrivate == isBackend, "\(path)")
            #expect(match.acceptsCodedBody == isPlugin && (match.plugin != nil) == isPlugin, "\(path)")
            #expect(match.requiresHost, "\(path)")
        }
        #expect(!Self.matcher().match(.get, "/health/live").requiresHost)
    }

    @Test(
        arguments: [
            ("/metrics", .get, .loop), ("*", .options, .loop), ("/lab/sessions", .post, .global), ("/api/v1/hubs", .get, .serverOrGlobal),
            ("/api/v1/backup", .post, .serverOrGlobal), ("/api/register", .post, .serverOrGlobal),
            ("/plugins/greet/hello", .get, .serverOrGlobal), ("/flows/greet", .post, .serverOrGlobal),
            ("/hub/../etc", .get, .serverOrGlobal), ("/hub", .get, .serverOrGlobal), ("/hub/jobs", .get, .serverOrGlobal),
            ("/hub/registrations", .get, .serverOrGlobal), ("/hub/registrations", .post, .serverOrLoop),
            ("/hub/installations/a", .patch, .serverOrGlobal), ("/hub/installations/a", .put, .serverOrLoop),
            ("/hub/messages", .post, .serverOrLoop), ("/hub/messages?test", .post, .serverOrGlobal),
        ] as [(String, HTTPRequest.Method, RouteMatch.Executor)])
    func `frequent requests with little work stay on their connection's loop`(
        target: String, method: HTTPRequest.Method, executor: RouteMatch.Executor
    ) {
        let path = String(target.prefix { $0 != "?" })
        let request = WebRequest(
            method: method, server: WebRequest.Server(base: "http://localhost", authority: "localhost"), path: path,
            query: RequestQuery(parsing: target.drop { $0 != "?" }.dropFirst()), fields: [:], body: RequestBody { _ in [] },
            receipt: WebRequest.Receipt(trackingID: "t", time: Timestamp(seconds: 0)))
        #expect(Self.matcher().match(method, path).executor(for: request) == executor)
    }

    @Test func `A path matches one pattern of the JSON API`() {
        for route in ManagementRoute.all {
            let path = route.operation.placeholders.reduce(route.operation.path) { $0.replacing("{\($1)}", with: "x") }
            let segments = PathSegments.decodedWithEmptyOnes(path)
            let patterns = Set(ManagementRoute.all.filter { $0.operation.match(segments) != nil }.map(\.operation.path))
            #expect(patterns == [route.operation.path], "\(route.operation.name)")
        }
    }
}

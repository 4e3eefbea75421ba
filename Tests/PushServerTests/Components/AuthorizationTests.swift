import HTTPTypes
import PushModel
import Testing

@testable import WebAPI

/// Access rights at a server: every route with every credential, as `docs/reference/authorization.md` says.
@Suite struct AuthorizationTests {
    /// Routes outside of `/openapi.json`, by what they match. A new one does not compile here until it is added, and fails without a row.
    private enum Kind: String, CaseIterable {
        case live, ready, metrics, about, asterisk, lab, backup, restore, channels, server, plugins, plugin
        case register, registration, notifications, notification, reads, login, logout
        case hubs, hub, feedbackRecords, registrationIDs, hubRegistrations, hubRegistration, taggedRegistrations, installation, messages
        case batch, message, schedule, scheduled, feedback, jobs, job

        /// Nil for routes of `/openapi.json`.
        init?(_ match: RouteMatch) {
            switch match {
            case .system(.live): self = .live
            case .system(.ready): self = .ready
            case .system(.metrics): self = .metrics
            case .system(.about): self = .about
            case .asterisk: self = .asterisk
            case .lab: self = .lab
            case .control(.backup): self = .backup
            case .control(.restore): self = .restore
            case .control(.channels): self = .channels
            case .control(.server): self = .server
            case .control(.plugins): self = .plugins
            case .plugin: self = .plugin
            case .flow, .management, .invalid: return nil
            case .backend(let path): self.init(path.resource)
            case .hub(.hubs): self = .hubs
            case .hub(.hub): self = .hub
            case .hub(.feedback): self = .feedbackRecords
            case .hub(.inHub(_, let resource)): self.init(resource)
            }
        }

        private init(_ resource: BackendPath.Resource) {
            self =
                switch resource {
                case .register: .register
                case .registration: .registration
                case .notifications: .notifications
                case .notification: .notification
                case .reads: .reads
                case .login: .login
                case .logout: .logout
                }
        }

        private init(_ resource: HubPath.Resource) {
            self =
                switch resource {
                case .registrationIDs: .registrationIDs
                case .registrations: .hubRegistrations
                case .registration: .hubRegistration
                case .taggedRegistrations: .taggedRegistrations
                case .installation: .installation
                case .messages: .messages
                case .batch: .batch
                case .message: .message
                case .schedule: .schedule
                case .scheduled: .scheduled
                case .feedback: .feedback
                case .jobs: .jobs
                case .job: .job
                }
        }
    }

    /// A plugin without routes, so that paths of plugins are matched.
    private struct NoRoutes: PluginRouting {
        func route(plugin: String, method: String, path: [String]) -> PluginRouteMatch { .notFound }
    }

    // MARK: - The rows

    @Test func `every row has a request, and every request a row`() throws {
        let routes = try AuthorizationPage().rows.map(\.route)
        #expect(routes.count > 100 && Set(routes).count == routes.count)
        #expect(Set(routes).symmetricDifference(Set(AuthorizationRequest.all().keys).subtracting(["world"])) == [])
    }

    @Test func `every route of the lab that its page lists has a row, and no other`() throws {
        let rows = try AuthorizationPage().rows.filter { $0.path.hasPrefix("/lab/") }
        #expect(try AuthorizationPage.labRoutes() == Set(rows.map(\.route)))
    }

    @Test func `every kind of route has a row`() throws {
        let matcher = RouteMatcher(hasLab: true, hasControl: true, hasFlows: true, plugins: NoRoutes())
        var kinds: Set<Kind> = []
        for row in try AuthorizationPage().rows {
            let method = try #require(HTTPRequest.Method(row.method))
            if let kind = Kind(matcher.match(method, row.path)) { kinds.insert(kind) }
        }
        #expect(Set(Kind.allCases).subtracting(kinds) == [])
    }

    // MARK: - The answers

    @Test func `every route answers every credential as its row says, and refused requests change nothing`() async throws {
        let (page, requests) = (try AuthorizationPage(), AuthorizationRequest.all())
        try await AuthorizationBench.with { bench in
            let columns = Set(page.rows.flatMap { $0.cells.map(\.credential) })
            try #require(columns == Set(bench.credentials.keys))
            for making in try #require(requests["world"]).makes { try await bench.make(making, for: "owner") }
            try await bench.settle()
            try await checkMethods(page, requests, bench)
            try await checkRefused(page, requests, bench)
            try await checkMarked(page, requests, bench)
            try await checkAllowed(page, requests, bench)
        }
    }

    /// The methods of every path are those of its rows. The routes of `/openapi.json` are exactly the rows of the JSON API and the flows.
    private func checkMethods(
        _ page: AuthorizationPage, _ requests: [String: AuthorizationRequest], _ bench: AuthorizationBench
    ) async throws {
        let answer = try await bench.call("none", "GET", "/openapi.json")
        var described: Set<String> = []
        for (path, item) in try #require(try JSON(parsing: answer.body)["paths"]?.object).members {
            for (method, _) in item.object?.members ?? [] { described.insert("\(method.uppercased()) \(path)") }
        }
        #expect(described.count > 50)
        let rows = Set(page.rows.map { "\($0.method) \($0.path)" })
        #expect(described.subtracting(rows) == [], "routes without a row")
        for (path, rows) in Dictionary(grouping: page.rows, by: \.path) where !path.hasPrefix("/plugins/") {
            let request = requests[rows[0].route]
            // The owner gets past the authentication of the lab.
            let refused = try await bench.call("owner", "TRACE", bench.filled(request?.path ?? path))
            let methods = Set((refused.headers["allow"] ?? "").split(separator: ", ").map(String.init)).subtracting(["HEAD"])
            #expect(refused.status == 405 && methods == Set(rows.map(\.method)), "\(path): \(refused.status) \(methods.sorted())")
        }
    }

    /// Refused requests get the same answer with an invalid body, for missing objects and, unless the key is the hub's, for a missing hub.
    private func checkRefused(
        _ page: AuthorizationPage, _ requests: [String: AuthorizationRequest], _ bench: AuthorizationBench
    ) async throws {
        var (tables, version) = (try bench.database.tables(), try bench.database.version())
        for row in page.rows {
            let request = try #require(requests[row.route])
            for (credential, cell) in row.cells where !cell.isAllowed && !cell.showsObject {
                let place = "\(row.route), \(credential)"
                let answer = try await send(row, request, credential, bench)
                #expect(answer.status == cell.status, "\(place): \(answer.status) \(answer.text)")
                for variant in variants(of: row, request, credential, cell) {
                    let other = try await send(row, request, credential, bench, variant)
                    #expect(other == answer, "\(place), \(variant)")
                }
                let now = try bench.database.version()
                guard now != version else { continue }
                let changed = try bench.database.tables()
                #expect(Self.difference(tables, changed) == [], "\(place)")
                (tables, version) = (changed, now)
            }
        }
        try await bench.settle()
        #expect(Self.difference(tables, try bench.database.tables()) == [], "after the response of a refused request")
    }

    /// Refusals that may show that the object exists.
    private func checkMarked(
        _ page: AuthorizationPage, _ requests: [String: AuthorizationRequest], _ bench: AuthorizationBench
    ) async throws {
        for row in page.rows {
            let request = try #require(requests[row.route])
            for (credential, cell) in row.cells where cell.showsObject {
                for making in request.makes { try await bench.make(making, for: credential) }
                try await bench.settle()
                let before = try bench.database.tables()
                let answer = try await send(row, request, credential, bench)
                #expect(answer.status == cell.status, "\(row.route), \(credential): \(answer.status) \(answer.text)")
                try await bench.settle()
                let changed = Self.difference(before, try bench.database.tables())
                #expect(changed == (cell.isRecorded ? ["secure_payload"] : []), "\(row.route), \(credential)")
            }
        }
    }

    private func checkAllowed(
        _ page: AuthorizationPage, _ requests: [String: AuthorizationRequest], _ bench: AuthorizationBench
    ) async throws {
        for isLast in [false, true] {
            for row in page.rows where requests[row.route]?.isLast == isLast {
                let request = try #require(requests[row.route])
                for (credential, cell) in row.cells where cell.isAllowed {
                    for making in request.makes { try await bench.make(making, for: credential) }
                    let answer = try await send(row, request, credential, bench)
                    #expect(answer.status == cell.status, "\(row.route), \(credential): \(answer.status) \(answer.text)")
                }
            }
        }
    }

    // MARK: - Requests

    private enum Variant { case wellFormed, invalidBody, missingObject, missingHub }

    /// The requests that a refused caller must not be able to tell from the well-formed one.
    private func variants(
        of row: AuthorizationPage.Row, _ request: AuthorizationRequest, _ credential: String, _ cell: AuthorizationPage.Cell
    ) -> [Variant] {
        let placeholders = Set((request.path ?? row.path).matches(of: /\{(\w+)\}/).map { String($0.1) })
        var variants: [Variant] = placeholders.subtracting(AuthorizationWorld.documents).isEmpty ? [] : [.missingObject]
        // A caller who may use the route gets 404 for the objects of others, after the body was checked.
        if request.body != nil, cell.status != 404 { variants.append(.invalidBody) }
        // A key of the hub proves that the hub exists.
        if placeholders.contains("hub"), !credential.hasPrefix("hub ") { variants.append(.missingHub) }
        return variants
    }

    /// What a caller sees of a response, without the ids that it has sent.
    private struct Seen: Equatable {
        let status: Int
        let text: String
    }

    private func send(
        _ row: AuthorizationPage.Row, _ request: AuthorizationRequest, _ credential: String, _ bench: AuthorizationBench,
        _ variant: Variant = .wellFormed
    ) async throws -> Seen {
        var values = ["own": bench.values["own"] ?? bench.values["approval"] ?? ""]
        if variant == .missingObject || variant == .missingHub {
            values["own"] = "absent-1"
            for name in bench.values.keys where !AuthorizationWorld.documents.contains(name) { values[name] = "absent-1" }
        }
        if variant == .missingHub { values["hub"] = "absent" }
        var path = request.path ?? row.path
        if request.isForNewHub { path = path.replacing("{hub}", with: "{new}") }
        let ids = path.matches(of: /\{(\w+)\}/).compactMap { values[String($0.1)] ?? bench.values[String($0.1)] }
        let body = request.body.map { variant == .invalidBody ? #"{""# : bench.filled($0, values) }
        let answer = try await bench.call(
            credential, row.method, bench.filled(path, values), request.headers.map { ($0.name, bench.filled($0.value, values)) },
            body: body)
        var text = answer.body.replacing(/TimeStamp:[^<]*/, with: "")
        for id in ids { text = text.replacing(#"\"\#(id)\""#, with: "") }
        return Seen(status: answer.status, text: text)
    }

    private static func difference(_ old: [String: [UInt8]], _ new: [String: [UInt8]]) -> [String] {
        Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
    }
}

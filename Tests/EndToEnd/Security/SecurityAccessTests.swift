import PushModel
import Testing

@testable import WebAPI

/// Access rights on every route.
@Suite struct SecurityAccessTests {
    /// The right that a method of a route needs.
    private struct Line {
        let route: Route
        let method: String
        let path: String
        let right: AuthorizationRule.Right
        /// The weakest key that suffices.
        var signer = ServedHub.Signer.full
    }

    /// Every route of the hub's interface. A new one does not compile below until it is added here, and fails until it has a line.
    private enum Route: String, CaseIterable {
        case hubs, hub, registrationIDs, registrations, registration, taggedRegistrations, installation, messages, batch, message
        case schedule, scheduled, feedback, jobs, job, feedbackRecords

        init(_ path: HubPath) {
            self =
                switch path {
                case .hubs: .hubs
                case .hub: .hub
                case .feedback: .feedbackRecords
                case .inHub(_, let place):
                    switch place {
                    case .registrationIDs: .registrationIDs
                    case .registrations: .registrations
                    case .registration: .registration
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
    }

    private static let lines: [Line] = [
        Line(route: .hubs, method: "GET", path: "/", right: .manage, signer: .root),
        Line(route: .hubs, method: "GET", path: "/$Resources/NotificationHubs", right: .manage, signer: .root),
        Line(route: .hub, method: "PUT", path: "/hub", right: .manage, signer: .root),
        Line(route: .hub, method: "GET", path: "/hub", right: .manage),
        Line(route: .hub, method: "DELETE", path: "/missing", right: .manage, signer: .root),
        Line(route: .registrationIDs, method: "POST", path: "/hub/registrationids", right: .listen),
        Line(route: .registrations, method: "POST", path: "/hub/registrations", right: .listen),
        Line(route: .registrations, method: "GET", path: "/hub/registrations", right: .manage),
        Line(route: .registrations, method: "GET", path: "/hub/registrations?$filter=ChannelUri%20eq%20'a'", right: .listen),
        Line(route: .registration, method: "PUT", path: "/hub/registrations/1-2-3", right: .listen),
        Line(route: .registration, method: "GET", path: "/hub/registrations/1-2-3", right: .listen),
        Line(route: .registration, method: "DELETE", path: "/hub/registrations/1-2-3", right: .listen),
        Line(route: .taggedRegistrations, method: "GET", path: "/hub/tags/a/registrations", right: .manage),
        Line(route: .installation, method: "PUT", path: "/hub/installations/i", right: .listen),
        Line(route: .installation, method: "GET", path: "/hub/installations/i", right: .listen),
        Line(route: .installation, method: "PATCH", path: "/hub/installations/i", right: .listen),
        Line(route: .installation, method: "DELETE", path: "/hub/installations/i", right: .listen),
        Line(route: .messages, method: "POST", path: "/hub/messages", right: .send),
        Line(route: .batch, method: "POST", path: "/hub/messages/$batch?direct", right: .send),
        Line(route: .message, method: "GET", path: "/hub/messages/m", right: .send),
        Line(route: .schedule, method: "POST", path: "/hub/schedulednotifications", right: .send),
        Line(route: .scheduled, method: "DELETE", path: "/hub/schedulednotifications/s", right: .send),
        Line(route: .feedback, method: "GET", path: "/hub/feedbackcontainer", right: .manage),
        Line(route: .jobs, method: "POST", path: "/hub/jobs", right: .manage),
        Line(route: .jobs, method: "GET", path: "/hub/jobs", right: .manage),
        Line(route: .job, method: "GET", path: "/hub/jobs/j", right: .manage),
    ]

    private func answer(_ hub: ServedHub, _ line: Line, _ token: String?) async throws -> WireAnswer {
        try await WireAnswer.exchange(
            line.method, line.path, token.map { ["Authorization: \($0)"] } ?? [], body: [], port: hub.port)
    }

    @Test func `every method of every route has its line`() async throws {
        for line in Self.lines {
            let path = try #require(HubPath(String(line.path.prefix { $0 != "?" })))
            #expect(Route(path) == line.route, "\(line.path)")
        }
        try await ServedHub.serving { hub in
            // Feedback records have an address that is itself signed.
            for route in Route.allCases where route != .feedbackRecords {
                let line = try #require(Self.lines.first { $0.route == route }, "\(route)")
                let refused = try await hub.call("TRACE", line.path, by: .root)
                #expect(refused.status == 405)
                let methods = try #require(refused["Allow"]).split(separator: ", ").map(String.init)
                let known = Set(Self.lines.filter { $0.route == route }.map(\.method))
                #expect(Set(methods).subtracting(["HEAD"]) == known, "\(route)")
            }
        }
    }

    @Test func `every route rejects requests without a valid token`() async throws {
        try await ServedHub.serving { hub in
            let other = try await hub.call("PUT", "/other", body: Self.emptyHub, by: .root)
            #expect(other.status == 201)
            let foreign = Secret(String(try #require(other.body.matches(of: /<PrimaryKey>([^<]+)</).last).1))
            for line in Self.lines {
                let good = try hub.token(line.signer)
                let tokens: [(String, String?)] = [
                    ("no token", nil), ("a token of another kind", "Bearer \(ServedHub.unspeakable)"),
                    ("an expired token", try hub.token(line.signer, seconds: -3600)),
                    ("a tampered signature", good.replacing(/sig=./) { $0.output.hasSuffix("A") ? "sig=B" : "sig=A" }),
                    ("a tampered expiry", good.replacing(/se=\d+/, with: "se=99999999999")),
                    ("the key of another hub", try hub.token(.full, key: foreign)),
                    ("a token for another path", try hub.token(line.signer, resource: "sb://localhost/elsewhere")),
                    ("a token for another host", try hub.token(line.signer, resource: "sb://elsewhere/")),
                    ("a token for less of the name", try hub.token(line.signer, resource: "sb://localhost/hu")),
                ]
                for (name, token) in tokens {
                    let refused = try await answer(hub, line, token)
                    #expect(refused.status == 401, "\(line.method) \(line.path) with \(name)")
                    #expect(refused.body.hasPrefix("<Error><Code>401</Code>"), "\(line.method) \(line.path) with \(name)")
                }
                let let_in = try await answer(hub, line, good)
                #expect(![401, 403, 405, 500].contains(let_in.status), "\(line.method) \(line.path): \(let_in.status)")
            }
            let records = try await answer(hub, Line(route: .feedbackRecords, method: "GET", path: "/feedback/hub", right: .listen), nil)
            #expect(records.status == 403)
        }
    }

    @Test func `a key with Listen can do nothing else: 403 for sends, 401 without Manage`() async throws {
        try await ServedHub.serving { hub in
            for line in Self.lines {
                let answered = try await answer(hub, line, try hub.token(.listen))
                switch line.right {
                case .listen: #expect(![401, 403].contains(answered.status), "\(line.method) \(line.path)")
                case .send:
                    #expect(answered.status == 403 && answered.body.isEmpty, "\(line.method) \(line.path)")
                case .manage:
                    #expect(answered.status == 401, "\(line.method) \(line.path)")
                }
            }
            // Keys of a hub have no rights on the server itself.
            for (method, path) in [("GET", "/"), ("PUT", "/another"), ("DELETE", "/another")] {
                #expect(try await hub.call(method, path, by: .full).status == 401, "\(method) \(path)")
            }
            #expect(try await hub.call("GET", "/hub").status == 200)
        }
    }

    @Test func `routes without a token reveal no keys`() async throws {
        try await ServedHub.serving { hub in
            for path in ["/health/live", "/health/ready", "/metrics"] {
                let answer = try await hub.call("GET", path, by: nil)
                #expect(answer.status == 200)
                for secret in [ServedHub.Signer.listen, .full, .root] {
                    let key = try hub.key(secret).reveal()
                    #expect(!answer.body.contains(key))
                }
            }
        }
    }

    private static let emptyHub = """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription \
        xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"/></content></entry>
        """
}

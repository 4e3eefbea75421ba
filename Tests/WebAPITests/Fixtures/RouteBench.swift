import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel
import Storage
import Support

@testable import WebAPI

/// A namespace with one hub, `hub`, and requests to it.
struct RouteBench {
    let store = MemoryNamespaceStore()
    let access: HubAccess
    /// Where the hubs send their notifications.
    let connector: ScriptedConnector
    let bench: HubBench
    /// The audit log.
    let trail = MemoryAuditTrail()
    /// Allows sends to any number of devices until a test sets a limit.
    let sendGuard: SendGuard
    var accounts: AccountService { bench.accounts }

    init() async throws {
        let bench = try HubBench(platforms: [.apns, .fcmV1])
        let connector = bench.connector
        self.bench = bench
        self.connector = connector
        let namespace = try await Namespace(
            environment: bench.environment, store: store, settings: HubSettings(),
            jobTools: JobService.Tools(files: NoFiles(), codec: RegistrationLines()), connectors: { _ in [connector] })
        try await namespace.resume()
        _ = try await namespace.create("hub", HubDescription())
        let audit = AuditLog(trail: trail, clock: bench.clock)
        sendGuard = SendGuard(store: MemoryApprovalStore(), audit: audit, clock: bench.clock, random: bench.random)
        access = HubAccess(namespace: namespace, throttle: nil, audit: audit, sendGuard: sendGuard)
    }

    /// The entries of the audit log: actor, action, subject, and details in order of their names.
    func noted() async -> [String] {
        await trail.entries(after: 0, limit: 1000, AuditFilter()).map { entry in
            let record = entry.record
            let details = record.details.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let mark = record.outcome == .succeeded ? "" : " \(record.outcome.rawValue)"
            return (["\(record.actor) \(record.action)\(mark) \(record.subject)"] + details).joined(separator: " ")
        }
    }

    /// A request signed with a key of the hub.
    func request(_ path: String, rule: String = Namespace.fullRule, body: String = "") throws -> WebRequest {
        var request = unsigned(path, body: body)
        let rules = access.namespace.hub("hub")?.record.description.rules ?? []
        for rule in rules.filter({ $0.name == rule }) {
            let token = SASToken(minting: "sb://localhost/", rule: rule, expiration: HubBench.startTime + .seconds(60))
            request = unsigned(path, body: body, fields: [.authorization: token.header])
        }
        return request
    }

    func unsigned(
        _ path: String, query: String = "", body: String = "", fields: HTTPFields = [:], now: Timestamp? = nil
    ) -> WebRequest {
        WebRequest(
            method: .get, server: WebRequest.Server(base: "http://localhost", authority: "localhost"), path: path,
            query: RequestQuery(parsing: query),
            fields: fields, body: RequestBody { _ in Array(body.utf8) },
            receipt: WebRequest.Receipt(trackingID: "t", time: now ?? HubBench.startTime))
    }
}

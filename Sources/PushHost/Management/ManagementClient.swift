import Glibc
import HubWire
import NIOHTTP1
import PushModel
import PushRuntime
import PushServer
import RemoteHub
import Synchronization
import WebAPI

/// Sends requests to a server, over the socket in its data folder or over the network with a key.
final class ManagementClient: Sendable {
    /// Key in an error's details: whether the error came from the server or from the connection to it.
    static let fromServer = "server"
    /// Default time limit of a request.
    static let timeout: Duration = .seconds(120)
    private static let tokenLifetime: Duration = .seconds(600)

    let target: ManagementTarget
    private let http: RemoteConnection
    /// Stored to keep the folder open: a long path to the socket is shortened through its file descriptor.
    private let socket: ControlSocket?
    private let clock = SystemClock()
    /// Whether the notice of a slow server was printed.
    private let hasShownSlowNotice = Atomic(false)

    /// Calls `work` with a client, and closes the client afterwards.
    static func with<Value>(
        _ target: ManagementTarget, _ work: (ManagementClient) async throws(PushError) -> Value
    ) async throws(PushError) -> Value {
        let client = try ManagementClient(target)
        let result: Result<Value, PushError>
        do throws(PushError) {
            result = .success(try await work(client))
        } catch {
            result = .failure(error)
        }
        await client.http.shutdown()
        return try result.get()
    }

    private init(_ target: ManagementTarget) throws(PushError) {
        self.target = target
        switch target {
        case .folder(let path):
            guard access(path, F_OK) == 0 else {
                throw PushError(
                    "control.unreachable", "the data folder \(path) does not exist",
                    hint: "name the server's data folder with --data or --config, or use --connection",
                    details: [Self.fromServer: true])
            }
            socket = try ControlSocket(folder: path)
            http = try RemoteConnection(timeout: Self.timeout)
        case .network(_, let authority):
            socket = nil
            http = try RemoteConnection(authority: authority, timeout: Self.timeout)
        }
    }

    /// The server's hubs.
    var hubs: ManagedHubs { ManagedHubs(client: self) }

    /// The server's URL for connection strings; nil if it is not known.
    func clientURL() async -> String? {
        switch target {
        case .network(let connection, _): connection.address
        case .folder: try? await get(Self.path("server"))["clientURL"]?.string
        }
    }

    // MARK: - The JSON API

    /// The path `/api/v1/…` of these parts, encoded.
    static func path(_ parts: String...) -> String {
        "/api/v1/" + parts.map(encoded).joined(separator: "/")
    }

    /// The path `/HUB/…` in the hub's REST interface of these parts, encoded. A slash in the hub's name separates segments.
    static func path(ofHub hub: String, _ parts: String...) -> String {
        "/" + (hub.split(separator: "/").map(String.init) + parts).map(encoded).joined(separator: "/")
    }

    /// Encodes a text as one part of a path.
    static func encoded(_ part: String) -> String { PercentEncoding.encode(part) }

    func get(
        _ path: String, _ query: [(String, String?)] = [], timeout: Duration = ManagementClient.timeout
    ) async throws(PushError) -> JSON {
        try await json(.GET, path, query, timeout: timeout)
    }

    func post(_ path: String, body: JSON, timeout: Duration = ManagementClient.timeout) async throws(PushError) -> JSON {
        try await json(.POST, path, body: body, timeout: timeout)
    }

    @discardableResult
    func put(_ path: String, body: JSON) async throws(PushError) -> JSON { try await json(.PUT, path, body: body) }

    func delete(_ path: String) async throws(PushError) { _ = try await json(.DELETE, path) }

    /// Sends a request and parses the answer; null if it is empty. Throws the server's error.
    private func json(
        _ method: HTTPMethod, _ path: String, _ query: [(String, String?)] = [], body: JSON? = nil,
        timeout: Duration = ManagementClient.timeout
    ) async throws(PushError) -> JSON {
        let headers: HTTPHeaders = body == nil ? [:] : ["Content-Type": "application/json"]
        let answer = try await exchange(
            method, path, query, headers, body.map { Array($0.text().utf8) } ?? [], timeout: timeout)
        guard !answer.body.isEmpty else { return .null }
        do {
            return try JSON(parsing: answer.body)
        } catch {
            throw refusal("control.answer", "the answer to \(path) is not JSON: the server is not PushHost, or has another version")
        }
    }

    /// All items of a list without pages.
    func allItems(
        _ path: String, _ query: [(String, String?)] = [], timeout: Duration = ManagementClient.timeout
    ) async throws(PushError) -> [JSON] {
        try await get(path, query, timeout: timeout)["items"]?.array ?? []
    }

    /// All items of a list, page by page, or the first `count`.
    /// - Returns: the items, and whether there are more.
    func items(
        _ path: String, _ query: [(String, String?)] = [], first count: Int?
    ) async throws(PushError) -> (items: [JSON], hasMore: Bool) {
        var items: [JSON] = []
        var continuation: String?
        repeat {
            let top = min(100, count.map { $0 - items.count } ?? 100)
            let page = try await get(path, query + [("top", String(top)), ("continuation", continuation)])
            items += page["items"]?.array ?? []
            continuation = page["continuation"]?.string
        } while continuation != nil && items.count < count ?? .max
        return (items, continuation != nil)
    }

    // MARK: - Requests

    /// Sends a request. Throws `control.unreachable`, `control.answer` for a redirect, and the server's error for a status from 400 on.
    func exchange(
        _ method: HTTPMethod, _ path: String, _ query: [(String, String?)] = [], _ headers: HTTPHeaders = [:], _ body: [UInt8] = [],
        timeout: Duration = ManagementClient.timeout
    ) async throws(PushError) -> RemoteAnswer {
        let pairs = query.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
        var request = RemoteRequest(
            method, "\(base)\(path)\(pairs.isEmpty ? "" : "?")\(pairs.joined(separator: "&"))", headers: headers, body: body)
        request.headers.add(name: "Accept", value: "application/json, application/problem+json")
        switch target {
        case .folder: request.headers.add(name: "Host", value: "localhost")
        case .network(let connection, _): request.headers.add(name: "Authorization", value: token(connection))
        }
        let notice = Task { [self] in
            try await Task.sleep(for: .seconds(3))
            showSlowNotice()
        }
        defer { notice.cancel() }
        let answer: RemoteAnswer
        do throws(ConnectionFailure) {
            answer = try await http.exchange(request, timeLimit: timeout)
        } catch {
            throw unreachable(error)
        }
        guard answer.status < 300 else { throw refusal(of: answer) }
        return answer
    }

    private func showSlowNotice() {
        let errors = Output(descriptor: STDERR_FILENO)
        guard errors.isTerminal, !hasShownSlowNotice.exchange(true, ordering: .relaxed) else { return }
        errors.note("the server has not responded yet; press Ctrl-C to stop waiting")
    }

    private var base: String {
        switch target {
        case .folder: "http+unix://\(PercentEncoding.encode(socket?.address ?? ""))"
        case .network(let connection, _): connection.address
        }
    }

    private func token(_ connection: ConnectionString) -> String {
        SASToken(minting: "sb://\(connection.host)/", connection: connection, expiration: clock.now + Self.tokenLifetime).header
    }

    // MARK: - Refusals

    private func unreachable(_ failure: ConnectionFailure) -> PushError {
        let details: [String: JSON] = [
            Self.fromServer: true, Self.isBroken: .bool(failure == .broken), Self.isUnsent: .bool(failure.isBeforeRequest),
        ]
        switch target {
        case .folder(let path):
            return PushError(
                "control.unreachable",
                failure == .refused
                    ? "no server is running on data folder \(path)" : "the server on data folder \(path) does not respond: \(failure.why)",
                hint: failure == .refused
                    ? "start it with pushhost serve --data \(path), or name the server's data folder with --data or --config"
                    : "see the log of the server", details: details)
        case .network(let connection, _):
            return PushError(
                "control.unreachable", "\(connection.host) does not respond: \(failure.why)",
                hint: failure == .notTLS
                    ? "for a port without TLS, write http:// in Endpoint"
                    : "check the address; if the server created its certificate, name its authority with --authority",
                details: details)
        }
    }

    /// Key in an error's details: whether an established connection broke. The server may have carried out the request.
    static let isBroken = "broken"
    /// Key in an error's details: whether the request was not sent, so that the server cannot have carried it out.
    static let isUnsent = "unsent"

    /// Key in an error's details: the id of the request that awaits approval.
    static let approval = "approvalId"
    /// Members of an error answer that are shown with the error.
    static let shown = [approval, "drift"]

    private func refusal(_ code: String, _ message: String, hint: String? = nil, status: Int? = nil) -> PushError {
        PushError(code, message, hint: hint, status: status, details: [Self.fromServer: true])
    }

    /// The server's error, with its code and message.
    private func refusal(of answer: RemoteAnswer) -> PushError {
        if answer.status < 400 {
            return refusal(
                "control.answer", "the answer is a redirect\(answer.redirect.map { " to \($0)" } ?? ""), which is not followed",
                hint: "use the address to which it redirects", status: answer.status)
        }
        guard let problem = try? JSON(parsing: answer.body), let code = problem["code"]?.string else {
            return refusal("control.refused", "the server responded with status \(answer.status)", status: answer.status)
        }
        let message = problem["detail"]?.string ?? problem["title"]?.string ?? "the server rejected the request"
        var error = refusal(code, message.asClause, hint: problem["hint"]?.string, status: answer.status)
        for member in Self.shown { error.details[member] = problem[member] }
        if code == "sas.signature", case .network(let connection, _) = target {
            error.message = "the key \"\(connection.keyName)\" is not valid for this server"
            error.hint = "copy the connection string again"
        }
        return error
    }
}

extension String {
    /// The text without its final full stop.
    fileprivate var asClause: String {
        var text = self[...]
        while let last = text.last, last == " " || last == "." { text.removeLast() }
        return String(text)
    }
}

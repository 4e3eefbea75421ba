import Glibc
import HubWire
import NIOHTTP1
import PushCore
import RemoteHub
import Synchronization
import WebAPI

/// Asks a server over the socket of its data folder, or over the network with a key.
final class ManagementClient: Sendable {
    /// The member of an error's details that says that it came from the server, or from the way there.
    static let fromServer = "server"
    /// How long an answer may take.
    static let patience: Duration = .seconds(120)
    private static let tokenLifetime: Duration = .seconds(600)

    let target: ManagementTarget
    private let http: RemoteConnection
    /// Kept open, for the way to the socket may lead through it.
    private let socket: ControlSocket?
    private let clock = SystemClock()
    /// Whether it was said that the server takes its time.
    private let hasSaidThatItWaits = Atomic(false)

    /// Lends a client to `work`.
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
                    "control.unreachable", "there is no data folder \(path)",
                    hint: "name the server's with --data or --config, or reach it with --connection",
                    details: [Self.fromServer: true])
            }
            socket = try ControlSocket(folder: path)
            http = try RemoteConnection(timeout: Self.patience)
        case .network(_, let authority):
            socket = nil
            http = try RemoteConnection(authority: authority, timeout: Self.patience)
        }
    }

    // MARK: - The JSON API

    /// `/api/v1/…` of these parts, encoded.
    static func path(_ parts: String...) -> String {
        "/api/v1/" + parts.map(encoded).joined(separator: "/")
    }

    /// A text as one part of a path.
    static func encoded(_ part: String) -> String { PercentEncoding.encode(part) }

    func get(
        _ path: String, _ query: [(String, String?)] = [], patience: Duration = ManagementClient.patience
    ) async throws(PushError) -> JSON {
        try await json(.GET, path, query, patience: patience)
    }

    func post(_ path: String, body: JSON, patience: Duration = ManagementClient.patience) async throws(PushError) -> JSON {
        try await json(.POST, path, body: body, patience: patience)
    }

    @discardableResult
    func put(_ path: String, body: JSON) async throws(PushError) -> JSON { try await json(.PUT, path, body: body) }

    func delete(_ path: String) async throws(PushError) { _ = try await json(.DELETE, path) }

    /// The JSON that a request is answered with; null for an empty answer. Throws what the server refuses with.
    private func json(
        _ method: HTTPMethod, _ path: String, _ query: [(String, String?)] = [], body: JSON? = nil,
        patience: Duration = ManagementClient.patience
    ) async throws(PushError) -> JSON {
        let headers: HTTPHeaders = body == nil ? [:] : ["Content-Type": "application/json"]
        let answer = try await exchange(
            method, path, query, headers, body.map { Array($0.text().utf8) } ?? [], patience: patience)
        guard !answer.body.isEmpty else { return .null }
        do {
            return try JSON(parsing: answer.body)
        } catch {
            throw refusal("control.answer", "the answer to \(path) is no JSON: this is no PushHost, or another version")
        }
    }

    /// All items of a list that has no pages.
    func allItems(
        _ path: String, _ query: [(String, String?)] = [], patience: Duration = ManagementClient.patience
    ) async throws(PushError) -> [JSON] {
        try await get(path, query, patience: patience)["items"]?.array ?? []
    }

    /// All items of a list, page after page, or the first `count`.
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

    /// Throws `control.unreachable`, for a redirect `control.answer`, and for a status from 400 on what the answer says.
    func exchange(
        _ method: HTTPMethod, _ path: String, _ query: [(String, String?)] = [], _ headers: HTTPHeaders = [:], _ body: [UInt8] = [],
        patience: Duration = ManagementClient.patience
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
            sayThatItWaits()
        }
        defer { notice.cancel() }
        let answer: RemoteAnswer
        do throws(ConnectionFailure) {
            answer = try await http.exchange(request, patience: patience)
        } catch {
            throw unreachable(error)
        }
        guard answer.status < 300 else { throw refusal(of: answer) }
        return answer
    }

    private func sayThatItWaits() {
        let errors = Output(descriptor: STDERR_FILENO)
        guard errors.isTerminal, !hasSaidThatItWaits.exchange(true, ordering: .relaxed) else { return }
        errors.note("the server has not answered yet; Ctrl-C ends the wait")
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
                "control.unreachable", "no server answers for the data folder \(path): \(failure.why)",
                hint: "start pushhost serve there, or name the server's folder with --data or --config", details: details)
        case .network(let connection, _):
            return PushError(
                "control.unreachable", "\(connection.host) does not answer: \(failure.why)",
                hint: failure == .notTLS
                    ? "for a plain port write http:// in Endpoint"
                    : "check the address; for a certificate that the server made, name its authority with --authority",
                details: details)
        }
    }

    /// The member of an error's details that says whether the connection broke when it was there already: what was asked may
    /// have been done.
    static let isBroken = "broken"
    /// The member that says whether nothing can have been done, since nobody was there.
    static let isUnsent = "unsent"

    /// The member with the id of what waits for somebody else's leave.
    static let approval = "approvalId"
    /// What of an answer that refuses is shown with the error.
    static let shown = [approval, "drift"]

    private func refusal(_ code: String, _ message: String, hint: String? = nil, status: Int? = nil) -> PushError {
        PushError(code, message, hint: hint, status: status, details: [Self.fromServer: true])
    }

    /// In the words of the server.
    private func refusal(of answer: RemoteAnswer) -> PushError {
        if answer.status < 400 {
            return refusal(
                "control.answer", "the answer is a redirect\(answer.redirect.map { " to \($0)" } ?? ""), which is not followed",
                hint: "name the address that answers itself", status: answer.status)
        }
        guard let problem = try? JSON(parsing: answer.body), let code = problem["code"]?.string else {
            return refusal("control.refused", "the server answered \(answer.status)", status: answer.status)
        }
        let message = problem["detail"]?.string ?? problem["title"]?.string ?? "the server refused"
        var error = refusal(code, message.asClause, hint: problem["hint"]?.string, status: answer.status)
        for member in Self.shown { error.details[member] = problem[member] }
        return error
    }
}

extension String {
    /// Without the full stop at its end.
    fileprivate var asClause: String {
        var text = self[...]
        while let last = text.last, last == " " || last == "." { text.removeLast() }
        return String(text)
    }
}

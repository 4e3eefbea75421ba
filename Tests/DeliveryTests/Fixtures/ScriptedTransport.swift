import Delivery
import HTTPTypes
import PushModel
import Synchronization

/// A transport that returns prepared answers in order and records the requests.
final class ScriptedTransport: PushTransport {
    enum Step: Sendable {
        case answer(Int, [String: String] = [:], String = "")
        case bytes(Int, [UInt8])
        case fail(TransportError)
    }

    struct Exchange: Sendable {
        let request: HTTPRequest
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var headers: [String] { request.headerFields.map { "\($0.name.rawName): \($0.value)" } }
        func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { request.headerFields[$0] } }
    }

    private struct State {
        var steps: [Step]
        var tokenAnswers: [Step]
        var exchanges: [Exchange] = []
    }

    private let state: Mutex<State>

    /// Token requests get the token answers in turn, the last one repeatedly; other requests get the steps, then 200.
    init(_ steps: [Step], tokenAnswers: [Step]) {
        state = Mutex(State(steps: steps, tokenAnswers: tokenAnswers))
    }

    convenience init(_ steps: [Step], tokenAnswer: Step = .answer(200, [:], ScriptedTransport.grantedToken)) {
        self.init(steps, tokenAnswers: [tokenAnswer])
    }

    static let grantedToken = #"{"access_token":"ya29.the-access-token","expires_in":3599,"token_type":"Bearer"}"#

    func destination(of authority: String) -> String { authority }

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        let isGrant = request.headerFields[.contentType] == FormBody.contentType
        let step = state.withLock { state -> Step in
            state.exchanges.append(Exchange(request: request, body: body))
            if isGrant {
                return state.tokenAnswers.count > 1 ? state.tokenAnswers.removeFirst() : state.tokenAnswers[0]
            }
            return state.steps.isEmpty ? .answer(200) : state.steps.removeFirst()
        }
        // Lets other requests for a token come in between.
        if isGrant { for _ in 0..<100 { await Task.yield() } }
        switch step {
        case .answer(let status, let headers, let text): return response(status, headers, Array(text.utf8))
        case .bytes(let status, let body): return response(status, [:], body)
        case .fail(let error): throw error
        }
    }

    /// All requests, including those for tokens.
    var all: [Exchange] { state.withLock { $0.exchanges } }

    var grants: [Exchange] { all.filter { $0.header("content-type") == FormBody.contentType } }

    /// The requests for notifications only.
    var pushes: [Exchange] { all.filter { $0.header("content-type") != FormBody.contentType } }

    private func response(_ status: Int, _ headers: [String: String], _ body: [UInt8]) -> PushResponse {
        var fields = HTTPFields()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return PushResponse(status: .init(code: status), headers: fields, body: body)
    }
}

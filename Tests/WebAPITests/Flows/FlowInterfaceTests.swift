import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel
import Storage
import Support
import Testing

@testable import WebAPI

@Suite struct FlowInterfaceTests {
    /// Flows under `/flows/`, and the app backend for flows that authenticate its users.
    private struct Bench {
        let backend: BackendBench
        let executor = ScriptedFlows()
        let flows: FlowDispatcher
        let interface: FlowInterface

        init(_ served: [ServedFlow]) async throws {
            backend = try await BackendBench()
            flows = FlowDispatcher(
                store: MemoryRunStore(), executor: executor, clock: backend.bench.bench.clock, zones: OnlyUTC(),
                start: { work in Task { await work() } })
            interface = FlowInterface(flows: flows, access: backend.bench.access, accounts: backend.authenticator)
            try await flows.begin(served)
        }

        func call(
            _ name: String, _ body: String = "", _ fields: HTTPFields = [:], method: HTTPRequest.Method = .post, rule: String? = nil
        ) async throws -> (status: Int, json: JSON, fields: HTTPFields) {
            var fields = fields
            let access = backend.bench.access
            for own in access.namespace.hub("hub")?.record.description.rules ?? [] where own.name == rule {
                fields[.authorization] =
                    SASToken(minting: "sb://localhost/", rule: own, expiration: HubBench.startTime + .seconds(60)).header
            }
            var request = backend.bench.unsigned("/flows/\(name)", body: body, fields: fields)
            request.method = method
            let answer = try await interface.answer(request, to: try #require(FlowInterface.name(request.path)))
            return (answer.status.code, answer.body.isEmpty ? .null : try JSON(parsing: answer.body), answer.fields)
        }
    }

    private static let greet = ServedFlow(name: "greet", script: "greet.lua", triggers: FlowTriggers(access: .key(.send)))

    @Test func `A request with a key starts the flow and gets the script's result`() async throws {
        let bench = try await Bench([Self.greet])
        let (status, json, fields) = try await bench.call("greet", #"{"to": "Sports"}"#, rule: Namespace.fullRule)
        #expect(status == 200 && json["runId"] == "r-1" && json["state"] == "completed")
        #expect(json["result"] == ["to": "Sports"] && fields[.runID] == "r-1")
        #expect(json["trigger"]?["by"]?.string?.contains(Namespace.fullRule) == true)
        _ = try await bench.call("greet", "", rule: Namespace.fullRule)
        #expect(bench.executor.starts.map(\.arguments) == [["to": "Sports"], JSONObject()])
    }

    @Test func `An unauthorized request is refused, and nothing runs`() async throws {
        var users = Self.greet
        (users.name, users.triggers.access) = ("users", .account)
        var none = Self.greet
        (none.name, none.triggers.access) = ("none", nil)
        let bench = try await Bench([Self.greet, users, none])
        #expect(await refusal { try await bench.call("greet") }?.status == 401)
        #expect(await refusal { try await bench.call("greet", rule: Namespace.listenRule) }?.status == 403)
        let stranger = await refusal { try await bench.call("users") }
        #expect(stranger?.status == 401 && stranger?.details["challenge"] != nil)
        #expect(await refusal { try await bench.call("users", rule: Namespace.fullRule) }?.status == 401)
        #expect(await refusal { try await bench.call("none", rule: Namespace.fullRule) }?.code == "flow.not_found")
        #expect(await refusal { try await bench.call("gret", rule: Namespace.fullRule) }?.message.contains("greet") == true)
        #expect(await refusal { try await bench.call("greet", method: .get) }?.status == 405)
        #expect(bench.executor.starts.isEmpty)
    }

    @Test func `A caller without Manage does not learn which flows exist`() async throws {
        var none = Self.greet
        (none.name, none.triggers.access) = ("none", nil)
        var managed = Self.greet
        (managed.name, managed.triggers.access) = ("managed", .key(.manage))
        let bench = try await Bench([Self.greet, none, managed])
        func refused(_ name: String, _ fields: HTTPFields, _ rule: String?) async -> String? {
            let error = await refusal { try await bench.call(name, "{}", fields, rule: rule) }
            return error.map { "\($0.status ?? 0) \($0.code) \($0.message) \($0.hint ?? "")" }
        }
        let callers: [(HTTPFields, String?)] = [([:], nil), ([:], Namespace.listenRule), ([.authorization: BackendBench.alice], nil)]
        for (fields, rule) in callers {
            let expected = await refused("managed", fields, rule)
            #expect(expected?.hasPrefix("401 ") == true)
            for name in ["none", "gret", "absent"] { #expect(await refused(name, fields, rule) == expected, "\(name)") }
        }
        #expect(bench.executor.starts.isEmpty)
    }

    @Test func `A flow for users gets the user's name, and an open flow accepts anyone`() async throws {
        let bench = try await Bench([
            ServedFlow(name: "users", script: "a.lua", triggers: FlowTriggers(access: .account)),
            ServedFlow(name: "open", script: "b.lua", triggers: FlowTriggers(access: .open)),
        ])
        let (_, json, _) = try await bench.call("users", "", [.authorization: BackendBench.alice])
        #expect(json["trigger"]?["by"] == "user:alice")
        #expect(try await bench.call("open").status == 200)
    }

    @Test func `Invalid arguments and invalid JSON are refused`() async throws {
        let bench = try await Bench([Self.greet])
        for (body, code) in [
            (#"{"bad": 1}"#, "args.invalid"), ("[1]", "request.body"), ("nonsense", "request.body"), (#"{"a": 1, "a": 2}"#, "request.body"),
        ] {
            let error = await refusal { try await bench.call("greet", body, rule: Namespace.fullRule) }
            #expect(error?.code == code && error?.status == 400, "\(body)")
        }
        #expect(bench.executor.starts.isEmpty)
    }

    @Test func `A client that prefers not to wait gets the address of the run`() async throws {
        let bench = try await Bench([Self.greet])
        bench.executor.hold("greet")
        let name = HTTPField.Name("Prefer") ?? .accept
        for preference in ["respond-async", "wait=0"] {
            let (status, json, fields) = try await bench.call("greet", "", [name: preference], rule: Namespace.fullRule)
            #expect(status == 202 && json["result"] == nil)
            #expect(fields[.location] == "http://localhost/api/v1/runs/\(json["runId"]?.string ?? "")")
        }
        #expect(await refusal { try await bench.call("greet", "", [name: "wait=soon"], rule: Namespace.fullRule) }?.status == 400)
        bench.executor.letGo("greet")
    }

    @Test func `Requests with the same idempotency key start the flow once`() async throws {
        let bench = try await Bench([Self.greet])
        for number in 1...2 {
            let (status, json, fields) = try await bench.call("greet", "{}", [.idempotencyKey: "k"], rule: Namespace.fullRule)
            #expect(status == 200 && json["runId"] == "r-1")
            #expect((fields[.idempotencyReplayed] == "true") == (number == 2))
        }
        #expect(
            await refusal { try await bench.call("greet", #"{"a": 1}"#, [.idempotencyKey: "k"], rule: Namespace.fullRule) }?.status == 422)
        #expect(await refusal { try await bench.call("greet", "", [.idempotencyKey: "k k"], rule: Namespace.fullRule) }?.status == 400)
        #expect(bench.executor.starts.count == 1)
    }

    @Test func `Callers with the same idempotency key start a run each, and do not get the result of the other's`() async throws {
        var users = Self.greet
        users.triggers.access = .account
        let bench = try await Bench([users])
        for (authorization, by, run) in [(BackendBench.alice, "user:alice", "r-1"), (BackendBench.bob, "user:bob", "r-2")] {
            for isRepeated in [false, true] {
                let (status, json, fields) = try await bench.call("greet", "{}", [.authorization: authorization, .idempotencyKey: "k"])
                #expect(status == 200 && json["runId"] == .string(run) && json["trigger"]?["by"] == .string(by))
                #expect((fields[.idempotencyReplayed] == "true") == isRepeated)
            }
        }
        #expect(bench.executor.starts.count == 2)
    }

    @Test func `Keys with the same idempotency key start a run each`() async throws {
        let bench = try await Bench([ServedFlow(name: "greet", script: "greet.lua", triggers: FlowTriggers(access: .key(.listen)))])
        for (rule, run) in [(Namespace.fullRule, "r-1"), (Namespace.listenRule, "r-2"), (Namespace.fullRule, "r-1")] {
            #expect(try await bench.call("greet", "{}", [.idempotencyKey: "k"], rule: rule).json["runId"] == .string(run))
        }
    }

    @Test func `A failing script is answered with 500, the run, its code and its line`() async throws {
        let bench = try await Bench([Self.greet])
        bench.executor.fail("greet", RunReport.Failure(code: "tag.invalid", message: "no tag", location: "greet.lua:7"))
        let error = await refusal { try await bench.call("greet", rule: Namespace.fullRule) }
        #expect(error?.code == "run.failed" && error?.status == 500)
        #expect(error?.message == "greet failed: greet.lua:7: no tag (tag.invalid), run r-1")
        let problem = ProblemDocument(error: try #require(error), trackingID: "t").json
        #expect(problem["runId"] == "r-1" && problem["version"] == "abc123" && problem["location"] == "greet.lua:7")
    }

    @Test func `A flow can handle the app backend's notifications`() async throws {
        let bench = try await Bench([ServedFlow(name: "backend", script: "b.lua", triggers: FlowTriggers(answersBackend: true))])
        var interface = bench.backend.interface
        interface.flows = bench.flows
        func post(_ path: String, _ body: String) async throws -> WebAnswer {
            let request = bench.backend.bench.unsigned(
                path, query: String(path.drop { $0 != "?" }.dropFirst()), body: body,
                fields: [.authorization: BackendBench.alice])
            var own = request
            (own.method, own.path) = (.post, String(path.prefix { $0 != "?" }))
            return try await interface.answer(own, at: try #require(BackendPath(own.path)))
        }
        let answer = try await post("/api/notifications?pns=apns&to_tag=bob", "\"Lunch?\"")
        #expect(answer.status == .ok && answer.fields[.notificationID] == "n-r-1")
        _ = try await post("/api/notifications", #"{"to": "bob", "payload": {"pin": "UNSPEAKABLE"}, "expiresIn": 60}"#)
        _ = try await post("/api/notifications", "")
        let given = bench.executor.starts.map(\.arguments)
        #expect(
            given[0] == ["user": "alice", "variant": "notify-users", "kind": "text", "text": "Lunch?", "to": "bob", "platform": "apns"])
        #expect(given[1]["kind"] == "secure" && given[1]["payload"] == ["pin": "UNSPEAKABLE"] && given[1]["expires_in"] == 60)
        #expect(given[2]["kind"] == "greeting")
        // Secrets are only in memory.
        let run = try await bench.flows.run("r-2")
        #expect(run.withheld == ["payload"] && run.arguments["payload"] == nil && run.trigger == .backend(user: "alice"))
        #expect(await refusal { try await post("/api/notifications", "7") }?.code == "request.body")
        bench.executor.fail("backend", RunReport.Failure(code: "x.y", message: "no"))
        #expect(await refusal { try await post("/api/notifications?to_tag=bob", "\"Hi\"") }?.code == "run.failed")
    }
}

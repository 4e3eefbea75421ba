import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

/// Requests to plugins, from path to answer.
@Suite(.timeLimit(.minutes(5))) struct PluginRouteTests {
    private static let problem = "application/problem+json"

    @Test func `A route receives the decoded request, and its answer is returned unchanged`() async throws {
        let routing = ScriptedPlugins([
            ScriptedRoute(method: "POST", pattern: ["greetings", "*"]),
            ScriptedRoute(pattern: ["made"]) { _ in
                PluginResponse(
                    status: 218, headers: [PushHeader("X-Made", "one"), PushHeader("X-Made", "two"), PushHeader("Content-Type", "text/x")],
                    body: Array("fine".utf8))
            },
        ])
        try await ServedPlugins.serving(routing) { served in
            let answer = try await served.ask(
                "POST", "/plugins/greet/greetings/J%C3%B6rg?a=1&b=x+y&a=%26", [("X-One", "1"), ("x-one", "2"), ("Authorization", "Own z")],
                Array("the body".utf8))
            let json = answer.json
            #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
            #expect(json["method"] == "POST" && json["path"] == ["greetings", "Jörg"] && json["body"] == "the body")
            #expect(json["query"] == ["a=1", "b=x y", "a=&"])
            #expect(json["headers"]?["x-one"] == "1, 2" && json["headers"]?["host"] == "localhost")
            // The route has no authentication, so the plugin may use the header.
            #expect(json["headers"]?["authorization"] == "Own z" && json["username"] == .null && json["delivery"] == .null)
            let made = try await served.ask("GET", "/plugins/greet/made")
            #expect(made.status == 218 && made.text == "fine" && made.headers["x-made"] == "one, two")
            #expect(made.headers["content-type"] == "text/x" && made.headers["content-length"] == "4")
            #expect(made.headers["trackingid"] != nil)
            #expect(made.headers.values.allSatisfy { !$0.contains("1.2.0") })
        }
        // One lookup per request: the result is reused.
        #expect(routing.lookups == 2)
    }

    @Test(arguments: [
        ("/plugins/greet/a%2Fb", ["a/b"]), ("/plugins/greet/%FF", ["\u{FFFD}"]), ("/plugins/greet/..", [".."]), ("/plugins/greet/", [""]),
        ("/plugins/greet/%zz+", ["%zz+"]), ("/plugins/gr%65et/x", ["x"]),
    ])
    func `Parts of a path are decoded separately`(target: String, path: [String]) async throws {
        try await ServedPlugins.serving(ScriptedPlugins([ScriptedRoute(pattern: ["*"])])) { served in
            let answer = try await served.ask("GET", target)
            #expect(answer.json["path"] == .array(path.map { .string($0) }))
        }
    }

    @Test func `Unknown paths and wrong methods are answered with problem documents`() async throws {
        let routing = ScriptedPlugins([
            ScriptedRoute(), ScriptedRoute(method: "POST"), ScriptedRoute(method: "DELETE", pattern: ["one"]),
        ])
        try await ServedPlugins.serving(routing) { served in
            for target in ["/plugins", "/plugins/", "/plugins/other", "/plugins/greet/none", "/plugins//greet", "/plugins/Greet"] {
                let answer = try await served.ask("GET", target)
                #expect(answer.status == 404 && answer.code == "route.not_found", "\(target)")
                #expect(answer.headers["content-type"] == Self.problem)
            }
            for (method, target, allow) in [
                ("PUT", "/plugins/greet", "GET, HEAD, POST"), ("OPTIONS", "/plugins/greet", "GET, HEAD, POST"),
                ("GET", "/plugins/greet/one", "DELETE"), ("HEAD", "/plugins/greet/one", "DELETE"),
            ] {
                let answer = try await served.ask(method, target)
                #expect(answer.status == 405 && answer.headers["allow"] == allow, "\(method) \(target)")
                #expect(method == "HEAD" ? answer.body.isEmpty : answer.code == "route.method")
            }
        }
    }

    @Test func `HEAD is answered like GET without the body, also for paths that resemble the app backend's`() async throws {
        let routing = ScriptedPlugins([ScriptedRoute(), ScriptedRoute(pattern: ["api", "register"])])
        try await ServedPlugins.serving(routing) { served in
            for target in ["/plugins/greet", "/plugins/greet/api/register"] {
                let (get, head) = (try await served.ask("GET", target), try await served.ask("HEAD", target))
                #expect(head.status == 200 && head.body.isEmpty && !get.body.isEmpty)
                #expect(head.headers["content-length"] == get.headers["content-length"])
                #expect(get.json["method"] == "GET")
            }
        }
    }

    @Test func `The body of a request is limited by its route`() async throws {
        let runs = Happenings()
        let routing = ScriptedPlugins([
            ScriptedRoute(method: "POST", bodyLimit: 4) { request in
                runs.note(String(decoding: request.body, as: UTF8.self))
                return PluginResponse(status: 204)
            }
        ])
        try await ServedPlugins.serving(routing) { served in
            #expect(try await served.ask("POST", "/plugins/greet", [], Array("four".utf8)).status == 204)
            // Refused by its Content-Length: no body is sent.
            let declared = try await served.send("POST", "/plugins/greet", [("Content-Length", "5")])
            #expect(declared.status == 413 && declared.code == "request.too_large")
            let chunks = Array("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n".utf8)
            let chunked = try await served.send("POST", "/plugins/greet", [("Transfer-Encoding", "chunked")], chunks)
            #expect(chunked.status == 413)
        }
        #expect(runs.all == ["four"])
    }

    @Test func `The server sets the headers that frame an answer, and answers without a body have none`() async throws {
        let routing = ScriptedPlugins([
            ScriptedRoute { _ in
                PluginResponse(
                    status: 200,
                    headers: [
                        PushHeader("Content-Length", "1"), PushHeader("transfer-encoding", "chunked"), PushHeader("Connection", "upgrade"),
                        PushHeader("Date", "never"), PushHeader("X-Kept", "yes"),
                    ], body: Array("fine".utf8))
            },
            ScriptedRoute(pattern: ["*"]) { request in
                PluginResponse(status: Int(request.path[0]) ?? 0, body: Array("body".utf8))
            },
        ])
        try await ServedPlugins.serving(routing) { served in
            let answer = try await served.ask("GET", "/plugins/greet")
            #expect(answer.headers["content-length"] == "4" && answer.headers["transfer-encoding"] == nil && answer.text == "fine")
            #expect(answer.headers["connection"] == "close" && answer.headers["date"] != "never" && answer.headers["x-kept"] == "yes")
            for status in [204, 205, 304] {
                let empty = try await served.ask("GET", "/plugins/greet/\(status)")
                #expect(empty.status == status && empty.body.isEmpty)
            }
            for status in [0, 100, 199, 600, 1000, -1] {
                let failed = try await served.ask("GET", "/plugins/greet/\(status)")
                #expect(failed.status == 500 && failed.code == "route.failed", "\(status)")
            }
        }
    }

    @Test func `Errors of a route are problem documents, and log lines name the plugin and its version`() async throws {
        let routing = ScriptedPlugins([
            ScriptedRoute(pattern: ["parameter"]) { _ throws(PushError) in
                throw PushError("request.parameter", "n is not a number", hint: "write 1", status: 400)
            },
            ScriptedRoute(pattern: ["secret"]) { _ throws(PushError) in throw PushError("lua.error", "what a client shall not see") },
        ])
        try await ServedPlugins.serving(routing) { served in
            let refused = try await served.ask("GET", "/plugins/greet/parameter")
            #expect(refused.status == 400 && refused.code == "request.parameter" && refused.json["hint"] == "write 1")
            let failed = try await served.ask("GET", "/plugins/greet/secret")
            #expect(failed.status == 500 && !failed.text.contains("shall not see"))
            _ = try await served.ask("GET", "/plugins/other")
            #expect(served.lines.all.contains("GET /plugins/greet/parameter 400 [greet] [1.2.0]"))
            #expect(served.lines.all.contains("GET /plugins/greet/secret 500 [greet] [1.2.0]"))
            #expect(served.lines.all.contains("GET /plugins/other 404"))
        }
    }

    @Test func `A connection serves several requests to plugins, also pipelined ones`() async throws {
        try await ServedPlugins.serving(ScriptedPlugins([ScriptedRoute(pattern: ["*"])])) { served in
            let caller = try await PlainCaller(port: served.port)
            try await caller.write(
                ServedPlugins.head("GET", "/plugins/greet/one") + ServedPlugins.head("GET", "/plugins/greet/two")
                    + ServedPlugins.head("GET", "/plugins/greet/three", [("Connection", "close")]))
            let text = String(decoding: try await caller.all(), as: UTF8.self)
            #expect(text.ranges(of: "HTTP/1.1 200").count == 3)
            let places = ["one", "two", "three"].map { text.firstRange(of: #""path":["\#($0)"]"#)?.lowerBound }
            #expect(!places.contains(nil) && places.compactMap { $0 } == places.compactMap { $0 }.sorted())
        }
    }

    @Test func `A client that disconnects cancels the run of its request`() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        let routing = ScriptedPlugins([
            ScriptedRoute { _ throws(PushError) in
                begin.yield()
                for await _ in AsyncStream<Void>.makeStream().stream {}
                end.yield(Task.isCancelled)
                throw PushError("route.failed", "cancelled", status: 500)
            }
        ])
        try await ServedPlugins.serving(routing) { served in
            let caller = try await PlainCaller(port: served.port)
            try await caller.write(ServedPlugins.head("GET", "/plugins/greet"))
            var (first, last) = (begun.makeAsyncIterator(), ended.makeAsyncIterator())
            await first.next()
            try await caller.close()
            #expect(await last.next() == true)
        }
    }

    @Test func `Plugins are unavailable while a backup is restored, and no hub can have their path`() async throws {
        let routing = ScriptedPlugins([ScriptedRoute()])
        try await ServedPlugins.serving(routing) { served in
            try await served.namespace.restore({ served.store }) { willReplace throws(PushError) in
                await willReplace()
                let answer = try? await served.ask("GET", "/plugins/greet")
                #expect(answer?.status == 503 && answer?.code == "hub.restoring")
            }
            #expect(try await served.ask("GET", "/plugins/greet").status == 200)
            for name in ["plugins", "Plugins/greet"] {
                let error = await refusal { try await served.namespace.create(name, HubDescription()) }
                #expect(error?.code == "hub.name", "\(name)")
            }
        }
        try await ServedPlugins.serving(nil) { served in
            let answer = try await served.ask("POST", "/plugins/greet")
            #expect(answer.status == 405 && answer.headers["content-type"] == ErrorDocument.contentType)
        }
    }

    @Test func `Metrics name only plugins that exist`() throws {
        let routing = ScriptedPlugins([ScriptedRoute()])
        #expect(try #require(PluginPath("/plugins/greet", .get, routing)).existingPlugin == "greet")
        #expect(try #require(PluginPath("/plugins/greet", .put, routing)).existingPlugin == "greet")
        #expect(try #require(PluginPath("/plugins/x", .get, routing)).existingPlugin == nil)
        #expect(PluginPath("/pluginsgreet", .get, routing) == nil)
    }
}

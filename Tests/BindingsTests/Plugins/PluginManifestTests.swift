import Lua
import PushModel
import Support
import Testing

@testable import Bindings

@Suite struct PluginManifestTests {
    @Test(
        arguments: [
            ("", "plugins/p/init.lua: the result of the file is missing; it must be one table"),
            ("return { 5, name = 'p' }", "the result of the file must be a table with names, got one with an unnamed value"),
            ("return 5", "the result of the file must be a table with names, got the number 5"),
            ("return { version = '1' }", "name is missing: it must be the plugin's name"),
            ("return { name = 'q', version = '1' }", "name is \"q\", but the folder is called p"),
            ("return { name = 'p' }", "version is missing"),
            ("return { name = 'p', version = 1 }", "version must be a string, got the number 1"),
            ("return { name = 'p', version = '1', hook = {} }", "hook is not a key of a plugin"),
            (
                "return { name = 'p', version = '1', needs = { 'hub.sent' } }",
                "needs[1] is invalid: unknown capability \"hub.sent\"; did you mean \"hub.send\"?"
            ),
            (
                "return { name = 'p', version = '1', needs = { 'http' } }",
                "needs[1] is invalid: incomplete capability \"http\": write http:HOST"
            ),
            ("return { name = 'p', version = '1', needs = { 'http:https://a/b' } }", "invalid host \"https://a/b\""),
            ("return { name = 'p', version = '1', hooks = { before_sent = {} } }", "hooks.before_sent is not a key of hooks"),
            (
                "return { name = 'p', version = '1', hooks = { before_send = function() end } }",
                "hooks.before_send must be a table with on_failure, got a function"
            ),
            ("return { name = 'p', version = '1', hooks = { on_login = { run = print } } }", "hooks.on_login.on_failure is missing"),
            (
                "return { name = 'p', version = '1', hooks = { on_login = { run = print, on_failure = 'open' } } }",
                "hooks.on_login.on_failure must be one of fail_open, fail_closed, got \"open\""
            ),
            (
                "return { name = 'p', version = '1', hooks = { on_login = { on_failure = 'fail_open' } } }",
                "hooks.on_login.run is missing: it must be a function"
            ),
            (
                "return { name = 'p', version = '1', hooks = { after_send = { run = print, timeout = '1d' } } }",
                "hooks.after_send.timeout must be between 1 ms and 300 s"
            ),
            ("return { name = 'p', version = '1', routes = { { path = '/a', run = print } } }", "routes[1].auth is missing"),
            (
                "return { name = 'p', version = '1', routes = { { path = 'a', auth = 'open', run = print } } }",
                "does not begin with a slash"
            ),
            (
                "return { name = 'p', version = '1', routes = { { path = '/a', auth = 'opn', run = print } } }",
                "routes[1].auth must be \"open\""
            ),
            (
                "return { name = 'p', version = '1', routes = { { path = '/a', method = 'get', auth = 'open', run = print } } }",
                "routes[1].method must be one of GET, POST, PUT, PATCH, DELETE, got \"get\""
            ),
            (
                "return { name = 'p', version = '1', routes = { { path = '/{a}', auth = 'open', run = print }, { path = '/{b}', auth = 'open', run = print } } }",
                "routes[2] GET /{b} conflicts with routes[1]"
            ),
            ("return { name = 'p', version = '1', every = { { run = print } } }", "every[1].cron is missing"),
            ("return { name = 'p', version = '1', flows = { a = 'a.lua' } }", "flows.a is \"a.lua\", but the plugin has no such file"),
            ("return { name = 'p', version = '1', config = { a = { type = 'int' } } }", "config.a.type must be one of string, integer"),
            (
                "return { name = 'p', version = '1', config = { a = { type = 'integer', min = 2, default = 1 } } }",
                "is invalid: it must be at least 2"
            ),
            ("return { name = 'p', version = '1', config = { a = { type = 'list' } } }", "config.a.of is missing"),
            (
                "return { name = 'p', version = '1', config = { a = { type = 'list', of = 'secret', default = { 'x' } } } }",
                "config.a.default is not allowed for secrets"
            ),
            (
                "return { name = 'p', version = '1', config = { a = { type = 'boolean', max = 1 } } }",
                "config.a.max is not allowed for the type boolean"
            ),
        ])
    func `a fault in a manifest is reported with the file and the key`(source: String, expected: String) async throws {
        let error = try await PluginBench().failure(of: PluginBench.source("p", source))
        #expect(error?.code == (expected.contains("conflicts") ? "plugin.route_exists" : "plugin.manifest"))
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "nothing")")
        #expect(error?.message.hasPrefix("plugins/p/init.lua: ") == true)
    }

    @Test func `a script that fails, does not compile, loops or sends is refused`() async throws {
        let bench = try PluginBench()
        for (source, code) in [
            ("return {", "script.syntax"), ("error 'no'", "script.error"), ("while true do end", "budget.cpu"),
            ("require('push').send { to = 'x', alert = 'y' }", "phase.not_allowed"), ("require 'a'", "script.module_cycle"),
            ("require 'none'", "script.unknown_module"), ("local t = {} while true do t[#t + 1] = ('x'):rep(1e6) end", "budget.memory"),
        ] {
            let error = try await bench.failure(
                of: PluginBench.source("p", source, files: ["a.lua": "return require 'b'", "b.lua": "return require 'a'"]))
            #expect(error?.code == code, "\(source): \(String(describing: error))")
            #expect(error?.annotations["run"]?.hasPrefix("p-") == true || code == "script.syntax")
        }
        #expect(try await bench.failure(of: PluginSource(name: "p", folder: "plugins/p", files: [:], hash: "0"))?.code == "plugin.no_main")
    }

    private static let schema = """
        config = {
          limit = { type = "integer", min = 1, max = 10, default = 3 },
          window = { type = "duration", default = "1h" },
          mode = { choices = { "soft", "hard" }, default = "soft" },
          names = { type = "list", of = "string", default = {} },
          texts = { type = "map", of = { type = "integer", min = 0 } },
          token = { type = "secret" },
          place = { type = "table", fields = { zone = { required = true, desc = "where" }, on = { type = "boolean", default = true } } },
        },
        hooks = { after_send = function()
          local c = push.config
          push.log(c.limit, c.window, c.mode, #c.names, c.texts and c.texts.a, c.token, c.place.zone, c.place.on)
        end }
        """

    @Test func `values of the configuration are checked and passed to the script`() async throws {
        let bench = try PluginBench(secrets: ["slack": "xoxb"])
        let values: JSON = .object([
            "limit": 5, "window": "90s", "names": ["a", "b"], "texts": .object(["a": 1]), "token": "slack",
            "place": .object(["zone": "UTC"]),
        ])
        bench.host.install([try await bench.load(PluginBench.plugin("p", Self.schema), values: values)])
        await bench.host.afterSend(SentNotification(id: "n-1", draft: try bench.draft()))
        #expect(bench.texts == ["info 5\t90.0\tsoft\t2\t1\t***\tUTC\ttrue"])
    }

    @Test(
        arguments: [
            (JSON.object(["limt": 1]), "config.limt is not a setting of the plugin; did you mean \"limit\"?"),
            (.object(["limit": 0]), "config.limit must be at least 1, got 0"),
            (.object(["limit": "5"]), "config.limit must be a whole number, got \"5\""),
            (.object(["mode": "medium"]), "config.mode must be one of soft, hard, got \"medium\""),
            (.object(["window": "soon"]), "config.window must be a duration such as 90s or 1h, got \"soon\""),
            (.object(["names": ["a", 1]]), "config.names[2] must be a string, got 1"),
            (.object(["texts": .object(["a": -1])]), "config.texts.a must be at least 0, got -1"),
            (.object(["token": "slak"]), "config.token names the secret \"slak\", which does not exist"),
            (.object(["place": .object(["zoe": "UTC"])]), "config.place.zoe is not a setting"),
            (.object([:]), "config.place.zone is missing"),
            (.array([]), "config must be a table with names, got a list"),
        ])
    func `a fault in a configuration is reported with file, plugin, key and value`(values: JSON, expected: String) async throws {
        let error = try await PluginBench(secrets: ["slack": "xoxb"]).failure(of: PluginBench.plugin("p", Self.schema), values: values)
        #expect(error?.code == "plugin.config")
        #expect(error?.message.hasPrefix("plugins/plugins.yaml: p: \(expected)") == true, "\(error?.message ?? "nothing")")
    }

    @Test func `a grant covers the capability it names, and hosts below a wildcard`() throws {
        func covers(_ granted: String, _ asked: String) throws -> Bool {
            try Capability(parsing: granted).covers(Capability(parsing: asked))
        }
        #expect(try covers("http:api.example.com", "http:API.example.com"))
        #expect(try covers("http:*.example.com", "http:a.b.example.com"))
        #expect(try !covers("http:*.example.com", "http:example.com"))
        #expect(try !covers("http:*.example.com", "http:badexample.com"))
        #expect(try !covers("http:api.example.com", "http.private:api.example.com"))
        #expect(try covers("http.private:localhost:8080", "http:localhost:8080"))
        #expect(try !covers("http:localhost", "http:localhost:8080"))
        #expect(try !covers("secret:a", "secret:b"))
        func effective(_ needs: String, _ granted: String) throws -> [String] {
            Grants(needs: [try Capability(parsing: needs)], granted: [try Capability(parsing: granted)]).effective.map(\.description)
        }
        #expect(try effective("http:*.example.com", "http:a.example.com") == ["http:a.example.com"])
        #expect(try effective("http:a.example.com", "http.private:a.example.com") == ["http.private:a.example.com"])
        #expect(try effective("http:a.example.com", "http.private:b.example.com") == [])
        #expect(try effective("http:a.example.com", "http:*.example.com") == ["http:a.example.com"])
        let grants = Grants(needs: [.kv, .hubSend], granted: [.kv, .hubRead])
        #expect(grants.missing == [.hubSend])
        #expect(grants.effective == [.kv])
        #expect(!grants.allows(Capability.hubRead))
    }
}

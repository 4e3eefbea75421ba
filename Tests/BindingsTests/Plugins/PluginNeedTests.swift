import Lua
import PushModel
import Support
import Testing

@testable import Bindings

/// `http:{url}` in `needs` stands for the host of a configured URL.
@Suite struct PluginNeedTests {
    private static let plugin = PluginBench.plugin(
        "p",
        """
        needs = { "kv", "http:{url}", "http:{mirrors}" },
        config = { url = { required = true }, mirrors = { type = "list", of = "string" } }
        """)

    private func needs(_ values: JSON, grants: [String] = []) async throws -> Grants {
        try await PluginBench().load(Self.plugin, values: values, grants: grants).grants
    }

    @Test(
        arguments: [
            ("https://audit.example.com/push?a=b", "http:audit.example.com"), ("https://Audit.Example.com", "http:audit.example.com"),
            ("http://audit.example.com", "http:audit.example.com"), ("https://audit.example.com:443/", "http:audit.example.com"),
            ("https://audit.example.com:8443/", "http:audit.example.com:8443"),
            ("http://audit.example.com:443/", "http:audit.example.com:443"),
            ("http://127.0.0.1:8080/", "http:127.0.0.1:8080"),
        ])
    func `the host of a setting is needed, with its port unless that is the default`(url: String, need: String) async throws {
        #expect(try await needs(.object(["url": .string(url)])).needs == [.kv, Capability(parsing: need)])
    }

    @Test func `each host of a list is needed once`() async throws {
        let values: JSON = .object(["url": "https://a.example.com/1", "mirrors": ["https://b.example.com/", "https://b.example.com/2"]])
        #expect(try await needs(values).needs.map(\.description) == ["kv", "http:a.example.com", "http:b.example.com"])
    }

    @Test func `it needs a grant, and the grant decides about private networks`() async throws {
        let values: JSON = .object(["url": "https://audit.example.com/"])
        #expect(try await needs(values).missing.map(\.description) == ["kv", "http:audit.example.com"])
        #expect(try await needs(values, grants: ["http:other.example.com"]).effective == [])
        #expect(try await needs(values, grants: ["http:*.example.com"]).effective == [.http(host: "audit.example.com")])
        let near = try await needs(values, grants: ["http.private:audit.example.com"])
        #expect(near.effective == [.httpPrivate(host: "audit.example.com")])
        #expect(near.missing == [.kv])
    }

    @Test(
        arguments: [
            ("audit.example.com", "config.url is not a URL"), ("ftp://audit.example.com", "config.url is not a URL"),
            ("https://user@audit.example.com/", "config.url is not a URL"), ("https://0177.1/", "config.url is not a URL"),
            ("https://a.example.com:99999/", "config.url is not a URL"),
        ])
    func `an invalid address is reported with its setting`(url: String, expected: String) async throws {
        let error = try await PluginBench().failure(of: Self.plugin, values: .object(["url": .string(url)]))
        #expect(error?.code == "plugin.config")
        #expect(error?.message == "plugins/plugins.yaml: p: \(expected)")
        let second: JSON = .object(["url": "https://a.example.com", "mirrors": ["https://b.example.com", .string(url)]])
        #expect(
            try await PluginBench().failure(of: Self.plugin, values: second)?.message.contains("config.mirrors[2] is not a URL") == true)
    }

    @Test(
        arguments: [
            ("{ 'http:{ur}' }", "needs[1] is invalid: \"ur\" is not a string setting in config; did you mean http:{url}?"),
            ("{ 'kv', 'http:{count}' }", "needs[2] is invalid: \"count\" is not a string setting in config"),
            ("{ 'secret:{url}' }", "needs[1] is invalid: invalid name of a secret in \"secret:{url}\""),
        ])
    func `a need must name a text of the schema`(needs: String, expected: String) async throws {
        let plugin = PluginBench.plugin("p", "needs = \(needs), config = { url = {}, count = { type = 'integer' } }")
        let error = try await PluginBench().failure(of: plugin)
        #expect(error?.code == "plugin.manifest")
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "nothing")")
    }
}

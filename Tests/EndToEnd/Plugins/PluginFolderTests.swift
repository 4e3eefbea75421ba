import HostSupport
import Support
import Testing

/// Changes of the plugins' folder while a server runs.
@Suite struct PluginFolderTests {
    private static let greet = """
        local push = require "push"
        return {
          name = "greet", version = "1.0", config = { tail = { default = "" } },
          routes = { { path = "/word", auth = "open", run = function() return { body = "one" .. push.config.tail } end } },
        }
        """

    @Test func `a server whose output is no longer read still loads changes`() async throws {
        let folder = try ScriptFolder(["plugins/greet/init.lua": Self.greet, "plugins/plugins.yaml": "- name: greet\n"])
        let program = try await BuiltProgram.shell(
            """
            mkfifo out log
            head -n 1 < out > /dev/null &
            timeout 120 "$P" serve --port 0 --tls-port none > out 2> log &
            server=$!
            exec 3< log
            hear() { while read -r line <&3; do case "$line" in *"$1"*) return 0;; esac; done; return 1; }
            hear "greet: is live"
            wait %1
            sed 's/"one"/"two"/' plugins/greet/init.lua > draft && mv draft plugins/greet/init.lua
            hear "greet: is live, replacing" && echo taken over
            kill -TERM $server; cat <&3 > /dev/null; wait $server
            """, in: folder.url)
        #expect(program.output == "taken over\n", "\(program.errors)")
    }

    @Test func `the folder of plugins can be created after the server has started`() async throws {
        let folder = try ScriptFolder()
        let program = try await BuiltProgram.shell(
            """
            mkfifo out log
            timeout 120 "$P" serve --port 0 --tls-port none > out 2> log &
            server=$!
            exec 4< out 3< log
            read -r line <&4
            cat <&3 > log.txt &
            "$P" plugin new greet > /dev/null && "$P" plugin enable greet --json
            "$P" plugin list --json
            printf -- '- name: greet\n  config: { greetign: x }\n' > plugins/plugins.yaml
            until "$P" plugin list | grep -q refused; do :; done
            echo '- name: greet' > plugins/plugins.yaml
            "$P" plugin enable greet
            kill -TERM $server; wait
            """, in: folder.url)
        // The change is in effect when the command returns.
        #expect(program.output.contains("\"server\": \"live\""), "\(program.output) \(program.errors)")
        #expect(program.output.contains("GET /plugins/greet/"), "\(program.output) \(program.errors)")
        // An earlier refusal is not reported for the current list.
        #expect(!program.output.contains("the server rejected it"), "\(program.output)")
    }
}

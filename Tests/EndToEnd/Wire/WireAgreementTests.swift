import Foundation
import HostSupport
import Support
import Testing

/// A flow has byte for byte the same output over the network.
@Suite struct WireAgreementTests {
    /// The bundled flows and examples, with options that make the longest short.
    private static let flows: [[String]] = ["scripts", "docs/examples"].flatMap { folder -> [[String]] in
        let names = (try? FileManager.default.contentsOfDirectory(atPath: BuiltProgram.root.appending(path: folder).path)) ?? []
        return names.filter { $0.hasSuffix(".lua") }.sorted().map { name in
            ["\(folder)/\(name)"] + (name == "crowd.lua" ? ["--users", "40", "--devices", "4"] : [])
        }
    }

    @Test func `there are flows to compare`() { #expect(Self.flows.count >= 12) }

    @Test(arguments: flows)
    func `a bundled flow prints the same over the network, with its trace and as JSON`(_ flow: [String]) async throws {
        for manner in [["--trace"], ["--trace", "--json", "--seed", "7"]] {
            let near = try await BuiltProgram.run(["run"] + flow + manner)
            let far = try await BuiltProgram.run(["run"] + flow + manner + ["--wire", "network"])
            #expect(far.status == near.status)
            #expect(far.errors == near.errors)
            #expect(far.output == near.output)
            #expect(near.output != "")
        }
    }

    @Test(arguments: [1, 2]) func `the bundled specs pass over the network, with the same report`(jobs: Int) async throws {
        let near = try await BuiltProgram.run(["test", "scripts", "docs", "--json", "--jobs", "\(jobs)"])
        let far = try await BuiltProgram.run(["test", "scripts", "docs", "--json", "--jobs", "\(jobs)", "--wire", "network"])
        #expect(far.status == 0)
        #expect(far.output == near.output)
        #expect(far.errors == near.errors)
        #expect(near.output.contains("crowd_spec.lua"))
    }

    @Test func `a session prints the same over the network`() async throws {
        let lines = """
            phones = {}
            for _, name in ipairs { "apns", "fcm", "wns", "browser" } do phones[name] = push.device { name = name, platform = name } end
            push.send { device = phones.apns, alert = "One" }
            for _, phone in pairs(phones) do push.spawn(function() push.sleep "1h" push.send { device = phone, alert = "Two" } end) end
            push.clock.advance "2h"
            push.simulator.wns:disconnect { next = 2 }
            push.send { device = phones.wns, alert = "Three" }
            #phones.apns:inbox(), #phones.wns:inbox(), push.clock.iso()
            """
        let folder = try ScriptFolder(["lines.lua": lines])
        let near = try await BuiltProgram.shell("$P repl --trace < lines.lua", in: folder.url)
        let far = try await BuiltProgram.shell("$P repl --trace --wire network < lines.lua", in: folder.url)
        #expect(far.output == near.output)
        #expect(far.errors == near.errors)
        #expect(far.status == 0)
        #expect(far.output.contains("/3/device/"))
    }
}

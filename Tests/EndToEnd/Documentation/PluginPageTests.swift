import Foundation
import HostSupport
import Support
import Testing

/// The plugins, specs and plugin lists on the pages work.
@Suite struct PluginPageTests {
    /// The blocks on a page that begin with "```" and the word.
    private static func blocks(_ word: String, of page: String) throws -> [String] {
        let text = try String(contentsOf: BuiltProgram.root.appending(path: page), encoding: .utf8)
        return text.components(separatedBy: "```\(word)\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    private static let pages = DocumentationTests.pages.filter { $0.contains("plugin") }

    /// Creates a folder with the bundled plugins.
    private static func folder() throws -> ScriptFolder {
        let folder = try ScriptFolder()
        try FileManager.default.copyItem(at: BuiltProgram.root.appending(path: "plugins"), to: folder.url.appending(path: "plugins"))
        return folder
    }

    @Test(arguments: pages) func `a plugin list on a page is valid as shown, with its grants`(page: String) async throws {
        for list in try Self.blocks("yaml plugins", of: page) {
            let folder = try Self.folder()
            try folder.write("plugins/plugins.yaml", Data(list.utf8))
            let names = list.matches(of: /(?m)^- name: (.*)$/).map { String($0.1) }
            #expect(!names.isEmpty)
            let check = try await BuiltProgram.run(
                ["plugin", "check"] + names, in: folder.url, environment: ["PUSHHOST_SECRET_AUDIT": "between us"])
            #expect(check.status == 0, "\(page): \(check.output)\(check.errors)")
            let shown = try await BuiltProgram.run(
                ["plugin", "list"], in: folder.url, environment: ["PUSHHOST_SECRET_AUDIT": "between us"])
            #expect(!shown.output.contains("not granted") && !shown.output.contains("refused"), "\(page): \(shown.output)")
        }
    }

    @Test(arguments: pages) func `a plugin on a page passes its check and the spec beside it`(page: String) async throws {
        let specs = try Self.blocks("lua spec", of: page)
        for (index, plugin) in try Self.blocks("lua plugin", of: page).enumerated() {
            let name = String(try #require(plugin.firstMatch(of: /(?m)^  name = "([^"]+)"/)).1)
            let folder = try ScriptFolder()
            try folder.write("plugins/\(name)/init.lua", Data(plugin.utf8))
            let check = try await BuiltProgram.run(["plugin", "check", name], in: folder.url)
            #expect(check.status == 0, "\(page): \(check.output)\(check.errors)")
            guard specs.indices.contains(index) else { continue }
            try folder.write("plugins/\(name)/page_spec.lua", Data(specs[index].utf8))
            let test = try await BuiltProgram.run(["plugin", "test", name], in: folder.url)
            #expect(test.status == 0, "\(page): \(test.output)\(test.errors)")
        }
    }

    @Test func `there are such pages, and the guide has a plugin with its spec`() throws {
        #expect(Self.pages.count >= 6)
        #expect(try Self.blocks("lua plugin", of: "docs/how-to/plugins.md").count >= 1)
        #expect(try Self.blocks("lua spec", of: "docs/how-to/plugins.md").count >= 1)
        #expect(try Self.pages.filter { try !Self.blocks("yaml plugins", of: $0).isEmpty }.count >= 5)
    }
}

import Testing

@testable import Bindings

@Suite struct ReferencePageTests {
    private static let pages = [
        (path: "docs/reference/lua.md", text: LuaReference(.standard).text),
        (path: "docs/reference/errors.md", text: ErrorReference(.standard).text),
        (path: "docs/reference/phases.md", text: PhaseReference(.standard).text),
    ]

    @Test func `the pages equal the descriptions; make docs writes them`() {
        for page in Self.pages {
            let isFresh = PackageText.text(page.path) == page.text
            #expect(isFresh, "\(page.path) is old")
        }
    }

    @Test func `every link inside the reference has a target`() {
        var places: [String: Set<String>] = [:]
        for page in Self.pages {
            let name = String(page.path.split(separator: "/").last ?? "")
            let ids = page.text.matches(of: /<a id="([^"]+)">/).map { String($0.1) }
            #expect(Set(ids).count == ids.count, "\(name) has an id twice")
            places[name] = Set(ids)
        }
        for page in Self.pages {
            let own = String(page.path.split(separator: "/").last ?? "")
            let links = page.text.matches(of: /\]\(([a-z.]*)#([^)]+)\)/)
            #expect(links.count > 50)
            for link in links {
                let target = link.1.isEmpty ? own : String(link.1)
                #expect(places[target]?.contains(String(link.2)) == true, "\(own) links to \(link.1)#\(link.2)")
            }
        }
    }

    @Test func `every row of a table has the same number of cells`() {
        for page in Self.pages {
            var width: Int?
            for line in page.text.split(separator: "\n", omittingEmptySubsequences: false) {
                guard line.hasPrefix("|") else {
                    width = nil
                    continue
                }
                let cells = line.replacing("\\|", with: "").count { $0 == "|" }
                #expect(cells == width ?? cells, "\(page.path): \(line)")
                width = cells
            }
        }
    }

    @Test func `every binding, type and code is in a section`() {
        for binding in BindingRegistry.standard.bindings {
            #expect(Self.pages[0].text.contains("></a>\(binding.name)\n"), "\(binding.name)")
        }
        for type in BindingRegistry.standard.types { #expect(Self.pages[0].text.contains("></a>\(type.name)\n"), "\(type.name)") }
        for entry in ErrorCatalogue.all { #expect(Self.pages[1].text.contains("></a>\(entry.code)\n"), "\(entry.code)") }
    }
}

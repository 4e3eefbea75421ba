import Foundation
import HostSupport
import Testing

/// Readers find every page, and every link leads somewhere.
@Suite struct PageLinkTests {
    private static let anchors = Dictionary(uniqueKeysWithValues: MarkdownPage.all.map { ($0.path, $0.anchors) })

    @Test func `every relative link leads to a file, and its anchor to a heading`() {
        #expect(MarkdownPage.all.count > 70)
        #expect(MarkdownPage.all.reduce(0) { $0 + $1.links.count } > 1_500)
        for page in MarkdownPage.all {
            for link in page.links {
                let exists = FileManager.default.fileExists(atPath: BuiltProgram.root.appending(path: link.path).path)
                #expect(exists, "\(page.path):\(link.line) links to \(link.path), which does not exist")
                guard exists, let anchor = link.anchor else { continue }
                let isHeading = Self.anchors[link.path]?.contains(anchor) == true
                #expect(isHeading, "\(page.path):\(link.line) links to #\(anchor), which is no heading of \(link.path)")
            }
        }
    }

    @Test func `every page can be reached from the index`() {
        let pages = Dictionary(uniqueKeysWithValues: MarkdownPage.all.map { ($0.path, $0) })
        var reached: Set<String> = []
        var waiting = ["docs/README.md"]
        while let path = waiting.popLast() {
            guard let page = pages[path], reached.insert(path).inserted else { continue }
            waiting += page.links.map(\.path)
        }
        for path in pages.keys.sorted() where path.hasPrefix("docs/") {
            #expect(reached.contains(path), "\(path) cannot be reached from docs/README.md")
        }
    }

    @Test func `every page of a kind is listed in the index itself`() {
        let listed = Set(MarkdownPage(path: "docs/README.md").links.map(\.path))
        for kind in ["tutorials", "how-to", "reference", "explanation"] {
            let pages = MarkdownPage.all.map(\.path).filter { $0.hasPrefix("docs/\(kind)/") }
            #expect(!pages.isEmpty, "docs/\(kind) has no pages")
            for path in pages { #expect(listed.contains(path), "docs/README.md does not list \(path)") }
        }
    }

    /// Paths of pages in messages, help texts and comments of the program.
    @Test func `every page that the sources, tests and scripts name exists`() throws {
        var count = 0
        for folder in ["Sources", "Tests", "plugins", "scripts", "Examples", "Benchmarks"] {
            let root = BuiltProgram.root.appending(path: folder)
            for name in try FileManager.default.subpathsOfDirectory(atPath: root.path)
            where !name.contains(".build/") && (name.hasSuffix(".swift") || name.hasSuffix(".lua") || name.hasSuffix(".py")) {
                guard let text = try? String(contentsOf: root.appending(path: name), encoding: .utf8) else { continue }
                for match in text.matches(of: /docs\/[A-Za-z\/-]+\.md/) {
                    count += 1
                    let exists = FileManager.default.fileExists(atPath: BuiltProgram.root.appending(path: String(match.0)).path)
                    #expect(exists, "\(folder)/\(name) names \(match.0), which does not exist")
                }
            }
        }
        #expect(count > 30)
    }
}

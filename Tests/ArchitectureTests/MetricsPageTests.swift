import FoundationEssentials
import Testing

/// `docs/reference/metrics.md` lists the metrics of the sources.
@Suite struct MetricsPageTests {
    private static let page = "docs/reference/metrics.md"

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Package.root.appending(path: path), encoding: .utf8)
    }

    /// The metrics of the sources: each is a literal.
    private static func names() throws -> Set<String> {
        try Package.swiftFiles(in: "Sources").filter { $0.text.containsBytes("\"pushhost_") }.reduce(into: []) { names, file in
            names.formUnion(file.text.matches(of: /"(pushhost_[a-z_]+)"/).map { String($0.1) })
        }
    }

    @Test func `the page has one row for each metric of the sources`() throws {
        let rows = try Self.text(Self.page).matches(of: /(?m)^\| `(pushhost_[a-z_]+)` \| (\w+) \|/)
        let listed = rows.map { String($0.1) }
        let names = try Self.names()
        #expect(names.count > 30)
        #expect(Set(listed).count == listed.count)
        for name in names.subtracting(listed).sorted() { Issue.record("\(Self.page) does not list \(name)") }
        for name in Set(listed).subtracting(names).sorted() { Issue.record("\(Self.page) lists \(name), which no source has") }
        for row in rows { #expect((row.2 == "counter") == row.1.hasSuffix("_total"), "\(row.1) is no \(row.2)") }
    }

    @Test func `the pages name no metric that does not exist`() throws {
        let names = try Self.names()
        let pages = try FileManager.default.subpathsOfDirectory(atPath: Package.root.appending(path: "docs").path)
        for page in pages where page.hasSuffix(".md") {
            for match in try Self.text("docs/\(page)").matches(of: /pushhost_[a-z_]+[a-z]/) {
                #expect(names.contains(String(match.0)), "docs/\(page) names \(match.0)")
            }
        }
    }
}

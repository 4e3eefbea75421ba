import Testing

/// The pages for contributors name what the sources have. `pages.py` has the list of pages.
@Suite struct PageTests {
    private struct Report: Decodable, Sendable {
        struct Name: Decodable, Sendable {
            let page: String
            let line: Int
            let name: String
            let why: String
        }

        let missing: [Name]
    }

    @Test func `files and types that the pages for contributors name exist`() async throws {
        for one in try await Package.report(Report.self, from: "pages.py").missing {
            Issue.record("\(one.page):\(one.line) names \(one.name): \(one.why)")
        }
    }
}

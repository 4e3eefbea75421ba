import Foundation
import HostSupport
import Testing

/// The tables of `docs/reference/authorization.md`: the expected answer to each route with each credential.
struct AuthorizationPage {
    /// The answer that a cell expects.
    struct Cell: Sendable, Equatable {
        let status: Int
        /// Whether the request is allowed: the status is in bold.
        let isAllowed: Bool
        /// Whether the refusal may show that the object exists: `†` or `‡`.
        let showsObject: Bool
        /// Whether the refused attempt is recorded with the object: `‡`.
        let isRecorded: Bool

        init?(_ text: Substring) {
            var text = text[...]
            isAllowed = text.hasPrefix("**") && text.hasSuffix("**")
            if isAllowed { text = text.dropFirst(2).dropLast(2) }
            isRecorded = text.hasSuffix("‡")
            showsObject = isRecorded || text.hasSuffix("†")
            if showsObject { text = text.dropLast() }
            guard text.count == 3, let status = Int(text), !(isAllowed && showsObject) else { return nil }
            self.status = status
        }
    }

    struct Row: Sendable {
        /// The method and the path of the route, and what distinguishes rows of one route; without the quotes of code.
        let route: String
        let cells: [(credential: String, cell: Cell)]

        var method: String { String(route.prefix { $0 != " " }) }
        /// The path with placeholders, without a query.
        var path: String { String(route.split(separator: " ")[1]) }
    }

    private(set) var rows: [Row] = []

    /// Reads the page. Records an issue for a cell that is not an answer.
    init() throws {
        var columns: [String] = []
        for line in try Self.text("authorization.md").split(separator: "\n") where line.hasPrefix("|") {
            let texts = Self.cells(line)
            if texts[0] == "route" {
                columns = texts.dropFirst().map(String.init)
                #expect(Set(columns).count == columns.count)
            } else if texts[0].hasPrefix("`"), !columns.isEmpty {
                let cells = texts.dropFirst().map { Cell($0) }
                guard cells.count == columns.count, !cells.contains(nil) else {
                    Issue.record("not a row of answers: \(line)")
                    continue
                }
                rows.append(Row(route: String(texts[0].replacing("`", with: "")), cells: Array(zip(columns, cells.compactMap(\.self)))))
            }
        }
    }

    /// The requests of the table in `docs/reference/lab.md`, as routes of this page.
    static func labRoutes() throws -> Set<String> {
        var routes: Set<String> = []
        for line in try text("lab.md").split(separator: "\n") where line.hasPrefix("| `") {
            for match in cells(line)[0].matches(of: /`(GET|POST|PUT|DELETE) ([^`?]+)[^`]*`/) {
                let path = match.2.replacing("…", with: "/lab/sessions/{session}").replacing("{id}", with: "{phone}")
                routes.insert("\(match.1) \(path)")
            }
        }
        return routes
    }

    private static func text(_ page: String) throws -> String {
        try String(contentsOf: BuiltProgram.root.appending(path: "docs/reference/\(page)"), encoding: .utf8)
    }

    private static func cells(_ line: Substring) -> [Substring] {
        line.split(separator: "|").map { cell in
            let text = cell.drop { $0 == " " }
            return text[..<(text.lastIndex { $0 != " " }.map { text.index(after: $0) } ?? text.startIndex)]
        }
    }
}

import Foundation
import HostSupport
import PushModel
import Testing

/// docs/reference/trace-causes.md lists every cause of the program.
@Suite struct TracingPageTests {
    @Test func `the page has a row for each cause, with its sentence and what to do`() throws {
        let page = try String(contentsOf: BuiltProgram.root.appending(path: "docs/reference/trace-causes.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        #expect(rows == TraceCause.allCases.map { "| `\($0.rawValue)` | \($0.pattern) | \($0.advice) |" })
    }

    @Test func `each cause is one sentence, and its advice is a phrase without a period`() {
        for cause in TraceCause.allCases {
            #expect(cause.pattern.hasSuffix(".") && !cause.pattern.dropLast().contains(". "), "\(cause)")
            #expect(!cause.advice.hasSuffix(".") && cause.advice.first?.isLowercase == true, "\(cause)")
        }
    }
}

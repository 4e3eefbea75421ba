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

    @Test func `each cause has a sentence without values, for lists and headings`() {
        for cause in TraceCause.allCases {
            let sentence = cause.generalSentence
            #expect(!sentence.contains("{") && !sentence.contains("}") && !sentence.contains("  "), "\(sentence)")
            #expect(sentence.first?.isUppercase == true && sentence.hasSuffix(".") && !sentence.contains("the the "), "\(sentence)")
        }
        #expect(
            TraceCause.tokenDead.generalSentence
                == "The device was removed from the hub because the push service reported its address as invalid.")
        #expect(TraceCause.held.generalSentence == "The plugin deferred it for the device until a certain time.")
    }

    @Test func `each cause is one sentence, and its advice is a phrase without a period`() {
        for cause in TraceCause.allCases {
            #expect(cause.pattern.hasSuffix(".") && !cause.pattern.dropLast().contains(". "), "\(cause)")
            #expect(!cause.advice.hasSuffix(".") && cause.advice.first?.isLowercase == true, "\(cause)")
        }
    }
}

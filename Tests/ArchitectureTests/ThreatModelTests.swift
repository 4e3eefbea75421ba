import FoundationEssentials
import Testing

/// Each promise of the threat model names the tests that hold it.
@Suite struct ThreatModelTests {
    /// A row of the table of promises, and the files that its last cell names.
    private struct Promise: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let files: [String]
    }

    private static func promises() throws -> [Promise] {
        let page = try String(contentsOf: Package.root.appending(path: "docs/explanation/threat-model.md"), encoding: .utf8)
        var isTable = false
        var promises: [Promise] = []
        for line in page.split(separator: "\n") {
            if line.hasPrefix("## ") { isTable = false }
            if line == "| promise | test |" { isTable = true }
            guard isTable, line.hasPrefix("|"), !line.hasPrefix("|---"), line != "| promise | test |" else { continue }
            let cells = line.split(separator: "|")
            let files = cells.last?.split(separator: "`").filter { $0.hasSuffix(".swift") }.map(String.init) ?? []
            promises.append(Promise(testDescription: String(cells.first ?? ""), files: files))
        }
        return promises
    }

    @Test func `each promise names files that exist and have tests`() throws {
        let promises = try Self.promises()
        #expect(promises.count > 20)
        let tests = Dictionary(uniqueKeysWithValues: try Package.swiftFiles(in: "Tests").map { ($0.path, $0) })
        for promise in promises {
            #expect(!promise.files.isEmpty, "no test holds:\(promise.testDescription)")
            for file in promise.files {
                #expect(tests[file]?.text.contains("@Test") == true, "\(file) does not exist or has no tests:\(promise.testDescription)")
            }
        }
    }
}

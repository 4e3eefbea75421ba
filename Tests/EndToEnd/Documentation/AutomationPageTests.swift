import Foundation
import HostSupport
import PushModel
import Testing

@testable import PushServer

/// The examples of docs/how-to/automation.md.
@Suite struct AutomationPageTests {
    @Test func `The flows in docs/how-to/automation.md are valid`() throws {
        let page = try String(decoding: Data(contentsOf: BuiltProgram.root.appending(path: "docs/how-to/automation.md")), as: UTF8.self)
        var found: [String] = []
        for block in page.matches(of: /(?s)```yaml[^\n]*\n(.*?)```/).map({ String($0.1) }) where block.contains("flows:") {
            found += try ConfiguredSettings(file: ("pushhost.yaml", block), environment: [:], flags: [:]).settings.flows.map(\.name)
        }
        #expect(found.contains("digest") && found.contains("backend") && found.contains("greet"), "\(found)")
    }

    @Test func `The CI steps in docs/how-to/automation.md pass`() async throws {
        let page = try String(decoding: Data(contentsOf: BuiltProgram.root.appending(path: "docs/how-to/automation.md")), as: UTF8.self)
        let steps = page.matches(of: /- run: pushhost (.*)/).map { $0.1.split(separator: " ").map(String.init) }
        #expect(steps.count == 3)
        for step in steps {
            let program = try await BuiltProgram.run(step, in: BuiltProgram.root)
            #expect(program.status == 0, "\(step): \(program.output)\(program.errors)")
        }
    }
}

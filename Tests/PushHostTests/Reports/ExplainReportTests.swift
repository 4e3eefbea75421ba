import Testing

@testable import Bindings
@testable import PushHost

@Suite struct ExplainReportTests {
    private let index = ReferenceIndex(.standard, notes: ProgramNotes.all)
    private let report = ExplainReport(registry: .standard, palette: Palette(isOn: false))

    private func text(_ name: String) -> String { report.text(index.answer(to: name)).joined(separator: "\n") }

    @Test func `every name that a list prints opens its own page`() {
        for topic in index.all {
            #expect(index.pages(named: topic.name).contains { $0.identity == topic.identity }, "\(topic.kind) \(topic.name)")
        }
        for area in ["args.*", "tag.*", "flow.*"] {
            let names = index.topics(for: area).map(\.name)
            #expect(names.contains { $0.hasPrefix(area.dropLast()) }, "\(area) \(names)")
        }
    }

    @Test(
        arguments: [
            ("duplicate", "trace cause duplicate", "run.duplicate"),
            ("payload_too_large", "trace cause payload_too_large", "payload.too_large"),
            ("force_quit", "trace cause force_quit", "device:force_quit"), ("data", "setting data", "data.unusable"),
            ("hub", "setting hub", "hub.no_target"), ("simulators", "setting simulators", "push.Simulators"),
            ("plugins", "setting plugins", "plugin.spec"),
        ])
    func `causes and settings have pages, with what else the word means in a list`(name: String, title: String, also: String) {
        let text = text(name)
        #expect(text.hasPrefix("\(title)\n\n"), "\(text)")
        #expect(text.contains("\n\nSEE ALSO:\n") && text.contains("\n  \(also) "), "\(text)")
        #expect(!text.contains("\n  \(name) "), "\(text)")
        #expect(text.hasSuffix("\n\nFor details run pushhost explain NAME."))
    }

    @Test func `a name of several topics prints the page of each, titled by its kind`() {
        let cancelled = text("cancelled")
        #expect(cancelled.hasPrefix("error cancelled\n\nThe run or the task was cancelled.\n"), "\(cancelled)")
        #expect(cancelled.contains("\n\ntrace cause cancelled\n\nThe notification was cancelled"), "\(cancelled)")
        let port = text("lab.port")
        #expect(port.hasPrefix("error lab.port\n\n") && port.contains("\n\nsetting lab.port\n\nPort of the lab"), "\(port)")
        #expect(!port.contains("SEE ALSO:"))
        // A name without another meaning is a page alone.
        #expect(text("hub.no_target").hasPrefix("hub.no_target\n\n"))
        #expect(text("push.Outcome").hasPrefix("push.Outcome\n\n"))
        #expect(!text("push.outcome").contains("SEE ALSO:"))
    }

    @Test func `lists give the kind of causes and settings, whose names do not show it`() {
        #expect(text("listen.").contains("  listen.port        setting · Port for plain HTTP\n"))
        #expect(text("payload too large").contains("  trace cause · For the device the notification has more bytes"))
    }
}

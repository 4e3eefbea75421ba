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
            ("plugins", "setting plugins", "plugin.spec"), ("audit", "audit", "audit.too_large"),
            ("approval", "approval", "guard.ceiling"),
        ])
    func `causes, settings and guides have pages, with what else the word means in a list`(name: String, title: String, also: String) {
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
        let list = text("webhook")
        #expect(list.hasPrefix("  webhook.signature  The signature of the webhook is invalid\n"), "\(list)")
        #expect(list.contains("\n  feedback.webhook   setting · Webhook that receives devices removed"), "\(list)")
        #expect(text("payload too large").contains("  trace cause · For the device the notification has more bytes"))
    }

    @Test(
        arguments: [
            ("webhook", "feedback.webhook"), ("approval", "guard.ceiling"), ("approvals", "guard.ceiling"),
            ("max devices", "guard.ceiling"),
            ("audit log", "audit"), ("audit", "audit"), ("log in", "push.login"), ("logs", "log.level"), ("listen.", "listen.port"),
        ])
    func `settings, guides and functions are listed beside errors`(words: String, expected: String) {
        let answer = index.answer(to: words)
        #expect((answer.pages + answer.list).map(\.name).contains(expected), "\(answer.list.map(\.name))")
    }

    @Test func `a summary that contains the words as a phrase is first, small words included`() {
        for words in ["no recipients", "a send has no recipients"] {
            #expect(index.topics(for: words).first?.name == "send.no_audience", "\(words)")
        }
        #expect(index.topics(for: "quiet hours").first?.name == "plugin quiet-hours")
    }

    @Test(arguments: ["logging", "logs", "log"])
    func `a log has nothing to do with a login`(word: String) {
        let answer = index.answer(to: word)
        let names = Set((answer.pages + answer.list).map(\.name))
        #expect(names.isDisjoint(with: ["push.Error", "auth.session_expired", "push.login"]), "\(names)")
        #expect(names.contains("push.log"), "\(names)")
    }
}

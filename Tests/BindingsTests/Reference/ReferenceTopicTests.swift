import Testing

@testable import Bindings

@Suite struct ReferenceTopicTests {
    @Test(
        arguments: [
            ("push.send", ["push.send"]), ("send", ["push.send", "session:send"]), ("SCHEDULE", ["push.schedule"]),
            ("tag.user", ["push.tag.user"]),
            ("push.tag.user", ["push.tag.user"]), ("user", ["push.tag.user"]), ("session:register", ["session:register"]),
            ("session.register", ["session:register"]), ("phone:inbox", ["device:inbox"]), ("device:inbox", ["device:inbox"]),
            ("push.device:inbox", ["device:inbox"]), ("push.register", ["push.register"]),
            ("register", ["push.register", "session:register"]), ("push.Outcome", ["push.Outcome"]), ("Outcome", ["push.Outcome"]),
            ("push.outcome", ["push.outcome"]), ("outcome", ["push.outcome", "push.Outcome"]), ("task", ["push.Task"]),
            ("args.unknown_key", ["args.unknown_key"]), ("expect.failed", ["expect.failed"]), ("cancelled", ["cancelled"]),
            (
                "clock",
                [
                    "push.clock.now", "push.clock.iso", "push.clock.advance", "push.clock.zone", "push.clock.next", "push.clock.window_end",
                    "push.clock.time_zones",
                ]
            ), ("rotate_token", ["device:rotate_token"]), ("hub.notarget", ["hub.no_target"]),
            ("ExpectFailed", ["expect.failed"]), ("", []), ("xyzzy", []), ("u", []), ("one two", []), ("with the", []),
            ("push.", ["push.args"]),
        ])
    func `a name finds what readers mean by it`(text: String, expected: [String]) {
        let names = ReferenceIndex(.standard).topics(for: text).map(\.name)
        #expect(text == "push." ? names.starts(with: expected) : names == expected)
    }

    @Test(
        arguments: [
            ("permission", "capability.denied"), ("isolation", "push.test.it"), ("dry-run", "push.plan"), ("reload", "plugin.spec"),
            ("quiet hours", "push.clock.window_end"), ("retry", "hub.idempotency_key"), ("rate limit", "hub.throttled"),
            ("Permissions", "sas.forbidden"), ("dry_run", "push.rehearse"), ("quiet-hours", "daily_window.invalid"),
            ("retries", "run.attempts"), ("Rate limits", "send.pace"),
            ("rate-limit", "push.send"),
        ])
    func `a search word finds the topics about it`(text: String, expected: String) {
        let topics = ReferenceIndex(.standard).topics(for: text)
        #expect(topics.count > 1 && topics.map(\.name).contains(expected))
    }

    @Test func `words are searched for in names, summaries and texts, a rare word and a name counting more`() {
        func names(_ text: String) -> [String] { ReferenceIndex(.standard).topics(for: text).map(\.name) }
        #expect(names("rotate").first == "device:rotate_token")
        #expect(Set(names("no_target").prefix(3)) == ["push.test.allow_no_target", "test.no_target", "hub.no_target"])
        #expect(names("payload too large").first == "payload.too_large")
        #expect(names("registration of a device").count == 10)
        // Without a topic that has all words, those with most of them are found.
        #expect(names("webhook signature qwertz").first == "webhook.signature")
        #expect(names("webhook.qwertz").isEmpty)
    }

    @Test(
        arguments: [
            ("expires", "expir"), ("expired", "expir"), ("expire", "expir"), ("denied", "deny"), ("denies", "deny"), ("address", "address"),
            ("status", "status"), ("logging", "log"), ("logged", "log"),
            ("requests", "request"), ("throttling", "throttl"), ("rotation", "rotat"), ("rotates", "rotat"),
            ("use", "use"), ("apns", "apn"), ("429", "429"),
        ])
    func `words are compared without their endings`(word: String, stem: String) {
        #expect(SearchText.stem(word) == stem)
    }

    @Test func `a text is split at punctuation and at capitals, without small words`() {
        #expect(SearchText("The BadDeviceToken of APNs: status 400").terms == ["bad", "devic", "token", "apn", "status", "400"])
        #expect(SearchText("payload.too_large").terms == ["payload", "too", "larg"])
        #expect(SearchText("Logs a user in, or cannot log in").terms == ["login", "user", "login"])
        #expect(SearchText("Logs of runs in a folder").terms == ["log", "run", "folder"])
    }

    @Test func `search words name existing topics, and a misspelt one is suggested`() {
        let names = Set(ReferenceIndex(.standard).all.map(\.name))
        for (word, topics) in SearchWords.topics {
            #expect(names.isSuperset(of: topics) && Set(topics).count == topics.count, "\(word)")
        }
        #expect(ReferenceIndex(.standard).suggestions(for: "permision").contains("permission"))
    }

    @Test func `an area lists its codes, after the functions of that name`() {
        let tag = ReferenceIndex(.standard).topics(for: "tag").map(\.name)
        #expect(tag.first == "push.tag.user")
        #expect(tag.contains("tag.invalid"))
        #expect(!tag.contains("tag_expression.invalid"))
        #expect(ReferenceIndex(.standard).topics(for: "flow").map(\.name).contains("cancelled"))
        #expect(ReferenceIndex(.standard).topics(for: "hub").allSatisfy { $0.name.hasPrefix("hub.") })
    }

    @Test(
        arguments: [
            ("sned", "push.send"), ("push.sned", "push.send"), ("hub.notargt", "hub.no_target"), ("Outcme", "push.Outcome"),
            ("session:regster", "session:register"), ("args.unknwon_key", "args.unknown_key"),
        ])
    func `a misspelt name finds nothing and suggests the right one`(text: String, near: String) {
        #expect(ReferenceIndex(.standard).topics(for: text).isEmpty)
        #expect(ReferenceIndex(.standard).suggestions(for: text).contains(near))
        #expect(ReferenceIndex(.standard).suggestions(for: text).count <= 3)
    }

    @Test func `a name that resembles nothing has no suggestion`() {
        #expect(ReferenceIndex(.standard).suggestions(for: "antidisestablishment").isEmpty)
        #expect(ReferenceIndex(.standard).suggestions(for: "").isEmpty)
    }
}

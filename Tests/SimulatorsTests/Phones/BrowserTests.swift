import Simulators
import Testing

@Suite(.timeLimit(.minutes(10))) struct BrowserTests {
    let bench = WebPushBench()

    private var texts: [String] { bench.items.map(\.text) }

    @Test func `a handle is the subscription in the browser's own form`() throws {
        let subscription = try bench.subscription()
        #expect(subscription.endpoint.hasPrefix("https://updates.push.services.mozilla.com/wpush/v2/gAAAAA"))
        #expect(TokenText.bytes(subscription.keys.p256dh)?.count == 65)
        #expect(TokenText.bytes(subscription.keys.auth)?.count == 16)
        #expect(bench.lab.phone(withHandle: subscription.endpoint) == bench.phone)
        #expect(bench.lab.pushHandle(of: bench.phone)?.contains(#""expirationTime":null"#) == true)
    }

    @Test(
        arguments: [
            (#"{"title":"News","body":"Hello"}"#, "News\nHello"), (#"{"title":"News"}"#, "News"),
            (#"{"body":"Hello"}"#, "Hello"), (#"{"notification":{"title":"A","body":"B"},"data":{}}"#, "A\nB"),
            (#"{"notification":"x","title":"A"}"#, "A"), ("plain text", "plain text"), (#""quoted""#, #""quoted""#), ("42", "42"),
        ])
    func `the service worker shows the text that common web apps show`(message: String, text: String) async throws {
        try await bench.send(message)
        let item = try #require(bench.items.first)
        #expect(item.text == text)
        #expect(item.data == Array(message.utf8))
        #expect(item.isShown && !item.isBackground)
    }

    @Test func `data without a text is passed to the app, and shows nothing`() async throws {
        try await bench.send(#"{"secureId":"7"}"#)
        try await bench.send(body: bench.seal([0xff, 0xfe]))
        #expect(bench.items.map(\.isShown) == [false, false])
        #expect(bench.items.map(\.isBackground) == [true, true])
        #expect(bench.items.last?.data == [0xff, 0xfe])
        #expect(bench.items.first?.reasonNotShown == "a background push shows nothing")
    }

    @Test func `an app that handles its pushes gets the data, and nothing is shown automatically`() async throws {
        bench.lab.setHandlesPushes(true, of: bench.phone)
        try await bench.send(#"{"title":"News","body":"Hello"}"#)
        #expect(await bench.lab.nextDelivery(for: bench.phone)?.data == Array(#"{"title":"News","body":"Hello"}"#.utf8))
        #expect(bench.items.first?.isShown == false)
        #expect(bench.items.first?.reasonNotShown == "left to the app's code")
    }

    private static let declarative =
        #"{"web_push":8030,"notification":{"title":"News","body":"Hello","navigate":"https://example.com/","tag":"t"}"#

    @Test func `a declarative message is shown by the browser, without the app`() async throws {
        bench.lab.setHandlesPushes(true, of: bench.phone)
        try await bench.send(Self.declarative + #","app_badge":"3"}"#)
        try await bench.send(Self.declarative + "}")
        #expect(texts == ["", "News\nHello"])
        #expect(bench.items.last?.banner.category == "https://example.com/")
        #expect(bench.items.first?.reasonNotShown?.hasPrefix("replaced by") == true)
        #expect(bench.lab.badge(of: bench.phone) == "3")
        try await bench.send(#"{"title":"for the app"}"#)
        #expect(await bench.lab.nextDelivery(for: bench.phone)?.data == Array(#"{"title":"for the app"}"#.utf8))
    }

    @Test func `a mutable declarative message is shown and reaches the app`() async throws {
        bench.lab.setHandlesPushes(true, of: bench.phone)
        try await bench.send(Self.declarative + #","mutable":true}"#)
        #expect(texts == ["News\nHello"])
        #expect(await bench.lab.nextDelivery(for: bench.phone) != nil)
    }

    @Test(
        arguments: [
            #"{"web_push":8030,"notification":{"title":"News"}}"#,
            #"{"web_push":8030,"notification":{"title":"News","navigate":"/relative"}}"#,
            #"{"web_push":8031,"notification":{"title":"News","navigate":"https://example.com/"}}"#,
            #"{"web_push":"8030","notification":{"title":"News","navigate":"https://example.com/"}}"#,
        ])
    func `an invalid declarative message goes to the app`(message: String) async throws {
        bench.lab.setHandlesPushes(true, of: bench.phone)
        try await bench.send(message)
        #expect(texts == [""])
        #expect(await bench.lab.nextDelivery(for: bench.phone)?.data == Array(message.utf8))
    }

    @Test func `messages to an offline browser wait, and arrive in order`() async throws {
        bench.lab.setOffline(bench.phone)
        for text in ["one", "two", "three"] { #expect(try await bench.send(text).status == 201) }
        #expect(texts.isEmpty)
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["one", "two", "three"])
    }

    @Test func `a message waits for its TTL, and one with TTL 0 does not wait`() async throws {
        bench.lab.setOffline(bench.phone)
        #expect(try await bench.send("now or never") { $0.set("ttl", "0") }.status == 201)
        try await bench.send("short") { $0.set("ttl", "60") }
        try await bench.send("long") { $0.set("ttl", "61") }
        bench.time.advance(seconds: 60)
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["long"])
        #expect(
            bench.log.kinds == [
                .dropped(reason: "the phone is offline and the push may not be stored"), .stored, .stored, .expired, .delivered,
                .shown(text: "long"),
            ])
        try await bench.send("at once") { $0.set("ttl", "0") }
        #expect(texts.last == "at once")
    }

    @Test func `a newer message replaces a waiting one of its topic, but not a shown one`() async throws {
        func send(_ text: String, topic: String?) async throws {
            try await bench.send(text) { $0.set("topic", topic) }
        }
        bench.lab.setOffline(bench.phone)
        try await send("score 1", topic: "score")
        try await send("news", topic: nil)
        try await send("weather", topic: "weather")
        try await send("score 2", topic: "score")
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["news", "weather", "score 2"])
        try await send("score 3", topic: "score")
        #expect(texts == ["news", "weather", "score 2", "score 3"])
    }

    @Test func `a closed browser gets all waiting messages when it starts`() async throws {
        bench.lab.forceQuit(bench.phone)
        try await bench.send("kept")
        try await bench.send("lost") { $0.set("ttl", "0") }
        #expect(bench.log.kinds == [.stored, .dropped(reason: "the browser is closed and the push may not be stored")])
        bench.lab.setOffline(bench.phone)
        bench.lab.launch(bench.phone)
        #expect(texts.isEmpty)
        bench.lab.forceQuit(bench.phone)
        bench.lab.setOnline(bench.phone)
        #expect(texts.isEmpty)
        bench.lab.launch(bench.phone)
        #expect(texts == ["kept"])
    }

    @Test func `waiting messages end with their subscription`() async throws {
        bench.lab.setOffline(bench.phone)
        try await bench.send("for the old one")
        bench.lab.rotateToken(of: bench.phone)
        try await bench.send("for the new one")
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["for the new one"])
        #expect(bench.log.kinds.contains(.dropped(reason: "the subscription has ended")))
    }
}

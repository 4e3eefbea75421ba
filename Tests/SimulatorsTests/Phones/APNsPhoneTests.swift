import HTTPTypes
import Simulators
import Testing

@Suite("A phone behind APNs", .timeLimit(.minutes(10)))
struct APNsPhoneTests {
    let bench = APNsBench()

    private var texts: [String] {
        bench.lab.inbox(of: bench.phone).filter(\.isShown).map(\.text)
    }

    private func alert(_ text: String) -> String { #"{"aps":{"alert":"\#(text)"}}"# }

    private func background(_ request: inout HTTPRequest) {
        request.set("apns-push-type", "background")
        request.set("apns-priority", "5")
    }

    @Test("Title, subtitle, body, badge, sound and category arrive")
    func fields() async throws {
        let body = """
            {"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":3,"sound":"ping","category":"C"},"k":"v"}
            """
        #expect(try await bench.verdict(body) == "200")
        let item = try #require(bench.lab.inbox(of: bench.phone).first)
        #expect(item.text == "T\nS\nB")
        #expect(item.badge == 3)
        #expect(item.banner.sound == "ping")
        #expect(item.banner.category == "C")
        #expect(item.data == Array(body.utf8))
        #expect(bench.lab.badge(of: bench.phone) == "3")
    }

    @Test("A key is shown as text when the app knows it, else as it is")
    func localization() async throws {
        let phone = bench.lab.addPhone(
            PhoneDescription(
                name: "pt", platform: .apns, app: PhoneApp(APNsBench.topic, strings: ["HELLO": "%2$@, olá %1$@: 5%"])))
        let body = #"{"aps":{"alert":{"loc-key":"HELLO","loc-args":["Ana","Bem"]}}}"#
        let path = "/3/device/\(bench.lab.pushHandle(of: phone) ?? "")"
        #expect(try await bench.verdict(body) { $0.path = path } == "200")
        #expect(try await bench.verdict(body) == "200")
        #expect(bench.lab.inbox(of: phone).map(\.text) == ["Bem, olá Ana: 5%"])
        #expect(texts == ["HELLO"])
    }

    @Test("One notification waits for an offline phone, and a newer one replaces it")
    func keepsOne() async throws {
        bench.lab.setOffline(bench.phone)
        #expect(try await bench.verdict(alert("one")) == "200")
        #expect(
            try await bench.verdict(alert("two")) { $0.set("apns-id", "00000000-0000-0000-0000-000000000002") }
                == "200")
        #expect(texts.isEmpty)
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["two"])
        #expect(
            bench.log.kinds == [
                .stored, .stored, .replaced(by: "00000000-0000-0000-0000-000000000002"), .delivered,
                .shown(text: "two"),
            ])
    }

    @Test("Expiration 0 is a single attempt")
    func oneAttempt() async throws {
        #expect(try await bench.verdict(alert("now")) { $0.set("apns-expiration", "0") } == "200")
        bench.lab.setOffline(bench.phone)
        #expect(try await bench.verdict(alert("never")) { $0.set("apns-expiration", "0") } == "200")
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["now"])
    }

    @Test("A notification that expires while it waits is not delivered")
    func expires() async throws {
        bench.lab.setOffline(bench.phone)
        let end = bench.time.seconds + 60
        #expect(try await bench.verdict { $0.set("apns-expiration", String(end)) } == "200")
        bench.time.advance(seconds: 60)
        bench.lab.setOnline(bench.phone)
        #expect(texts.isEmpty)
        #expect(bench.log.kinds == [.stored, .expired])
    }

    @Test("The same collapse id replaces what is shown")
    func collapse() async throws {
        for text in ["1:0", "2:0"] {
            #expect(try await bench.verdict(alert(text)) { $0.set("apns-collapse-id", "score") } == "200")
        }
        #expect(texts == ["2:0"])
        #expect(bench.lab.inbox(of: bench.phone).first?.reasonNotShown?.hasPrefix("replaced by") == true)
    }

    @Test("A background push wakes the app and shows nothing")
    func background() async throws {
        let body = #"{"aps":{"content-available":1},"id":7}"#
        bench.lab.setHandlesPushes(true, of: bench.phone)
        #expect(try await bench.verdict(body, change: background) == "200")
        let delivery = await bench.lab.nextDelivery(for: bench.phone)
        #expect(delivery?.data == Array(body.utf8))
        let item = try #require(bench.lab.inbox(of: bench.phone).first)
        #expect(!item.isShown && item.isBackground && item.text.isEmpty && item.reasonNotShown != nil)
    }

    @Test("After a force-quit, background pushes are lost and alerts are shown")
    func forceQuit() async throws {
        bench.lab.forceQuit(bench.phone)
        #expect(try await bench.verdict(#"{"aps":{"content-available":1}}"#, change: background) == "200")
        #expect(bench.log.kinds == [.dropped(reason: "the user closed the app")])
        #expect(try await bench.verdict(alert("seen")) == "200")
        #expect(texts == ["seen"])
    }

    @Test("Uninstalling removes storage and shown notifications, and reinstalling gives a new handle")
    func uninstall() async throws {
        let old = bench.lab.pushHandle(of: bench.phone)
        bench.lab.store("x", forKey: "k", on: bench.phone)
        #expect(try await bench.verdict() == "200")
        bench.lab.uninstall(bench.phone)
        #expect(bench.lab.storage(of: bench.phone).isEmpty)
        #expect(texts.isEmpty)
        let new = bench.lab.reinstall(bench.phone)
        #expect(new != nil && new != old)
    }

    @Test("The app is woken three times an hour, and opening it restarts the count")
    func backgroundBudget() async throws {
        let push = #"{"aps":{"content-available":1}}"#
        func wake() async throws { #expect(try await bench.verdict(push) { background(&$0) } == "200") }
        for _ in 1...4 { try await wake() }
        func woken() -> Int { bench.lab.inbox(of: bench.phone).count { $0.reasonNotShown?.contains("used up") != true } }
        #expect(woken() == 3)
        bench.time.advance(seconds: 3599)
        try await wake()
        #expect(woken() == 3)
        bench.time.advance(seconds: 1)
        try await wake()
        #expect(woken() == 4)
        for _ in 1...3 { try await wake() }
        bench.lab.launch(bench.phone)
        try await wake()
        #expect(woken() == 7)
        // Visible notifications are not throttled.
        #expect(try await bench.verdict(alert("still here")) == "200")
        #expect(texts == ["still here"])
    }
}

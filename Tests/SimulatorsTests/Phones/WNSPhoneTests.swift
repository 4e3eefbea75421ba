import Simulators
import Testing

@Suite("A device behind WNS", .timeLimit(.minutes(10)))
struct WNSPhoneTests {
    let bench = WNSBench()

    private var inbox: [InboxItem] { bench.lab.inbox(of: bench.phone) }

    private func tile(_ text: String) -> String {
        "<tile><visual><binding template='TileWide'><text>\(text)</text></binding></visual></tile>"
    }

    @Test("A single text is the body, and entities are resolved")
    func oneText() async throws {
        let toast =
            #"<toast launch="go"><visual><binding><text id="1">a &amp; b &#33;</text></binding></visual></toast>"#
        #expect(try await bench.send(toast).status == 200)
        let item = try #require(inbox.first)
        #expect((item.banner.title, item.banner.body) == ("", "a & b !"))
        #expect(item.banner.category == "go")
    }

    @Test("Badges and tiles change the start screen")
    func surfaces() async throws {
        #expect(try await bench.send(WNSBench.badge, type: "wns/badge").status == 200)
        #expect(bench.lab.badge(of: bench.phone) == "7")
        #expect(try await bench.send(#"<badge value="none"/>"#, type: "wns/badge").status == 200)
        #expect(bench.lab.badge(of: bench.phone) == nil)
        #expect(try await bench.send(tile("one"), type: "wns/tile").status == 200)
        #expect(bench.lab.tiles(of: bench.phone) == [["one"]])
        #expect(inbox.isEmpty)
    }

    @Test("Five tiles wait for an offline device, and a tag replaces")
    func tilesWait() async throws {
        bench.lab.setOffline(bench.phone)
        for number in 1...6 { #expect(try await bench.send(tile("\(number)"), type: "wns/tile").status == 200) }
        for text in ["a", "b"] {
            #expect(try await bench.send(tile(text), type: "wns/tile") { $0.set("x-wns-tag", "t") }.status == 200)
        }
        bench.lab.setOnline(bench.phone)
        #expect(bench.lab.tiles(of: bench.phone) == [["3"], ["4"], ["5"], ["6"], ["b"]])
    }

    @Test("One toast waits, unless its headers forbid it")
    func toastsWait() async throws {
        bench.lab.setOffline(bench.phone)
        #expect(try await bench.send { $0.set("x-wns-cache-policy", "no-cache") }["x-wns-status"] == "dropped")
        for _ in 1...2 { #expect(try await bench.send()["x-wns-status"] == "received") }
        bench.lab.setOnline(bench.phone)
        #expect(inbox.count == 1)
    }

    @Test("A notification that waits longer than its TTL is dropped")
    func timeToLive() async throws {
        bench.lab.setOffline(bench.phone)
        #expect(
            try await bench.send(WNSBench.badge, type: "wns/badge") { $0.set("x-wns-ttl", "60") }["x-wns-status"]
                == "received")
        bench.time.advance(seconds: 60)
        bench.lab.setOnline(bench.phone)
        #expect(bench.lab.badge(of: bench.phone) == nil)
        #expect(bench.log.kinds == [.stored, .expired])
    }

    @Test("A raw push goes to the app, and is lost once the app was closed")
    func raw() async throws {
        bench.lab.setHandlesPushes(true, of: bench.phone)
        #expect(try await bench.send(#"{"a":1}"#, type: "wns/raw").status == 200)
        #expect(await bench.lab.nextDelivery(for: bench.phone)?.data == Array(#"{"a":1}"#.utf8))
        bench.lab.forceQuit(bench.phone)
        #expect(try await bench.send("text", type: "wns/raw").status == 200)
        #expect(inbox.last?.reasonNotShown == "the user closed the app")
        #expect(inbox.last?.data == Array(#"{"type":"wns/raw","text":"text"}"#.utf8))
    }

    @Test("A background task gets raw pushes after the app was closed")
    func backgroundTask() async throws {
        let phone = bench.lab.addPhone(
            PhoneDescription(
                name: "task", platform: .wns, app: PhoneApp("Example.News", handlesPushes: true, hasBackgroundTask: true)))
        bench.lab.forceQuit(phone)
        #expect(try await bench.send("x", type: "wns/raw", to: bench.lab.pushHandle(of: phone)).status == 200)
        #expect(await bench.lab.nextDelivery(for: phone) != nil)
    }

    @Test("The same tag and group replace a toast")
    func tag() async throws {
        for _ in 1...2 { #expect(try await bench.send { $0.set("x-wns-tag", "t") }.status == 200) }
        #expect(inbox.map(\.isShown) == [false, true])
    }
}

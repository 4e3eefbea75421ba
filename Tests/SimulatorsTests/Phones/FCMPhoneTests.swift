import Simulators
import Testing

@Suite("A phone behind FCM", .timeLimit(.minutes(10)))
struct FCMPhoneTests {
    let bench = FCMBench()

    private var texts: [String] {
        bench.lab.inbox(of: bench.phone).filter(\.isShown).map(\.text)
    }

    @Test("The Android notification overrides the common one")
    func merged() async throws {
        let fields =
            #""notification":{"title":"T","body":"B"},"android":{"notification":{"body":"A","tag":"t","sound":"s"}}"#
        #expect(try await bench.send(fields).status == 200)
        let item = try #require(bench.lab.inbox(of: bench.phone).first)
        #expect(item.text == "T\nA")
        #expect(item.banner.sound == "s")
    }

    @Test("The app shows the text of a data message", arguments: ["message", "msg", "body", "alert"])
    func data(name: String) async throws {
        #expect(try await bench.send(#""data":{"\#(name)":"Hi","title":"T"}"#).status == 200)
        #expect(texts == ["T\nHi"])
    }

    @Test("An app that handles its pushes is woken and decides what is shown")
    func handles() async throws {
        bench.lab.setHandlesPushes(true, of: bench.phone)
        #expect(try await bench.send(#""data":{"message":"Hi"}"#).status == 200)
        #expect(texts.isEmpty)
        let delivery = await bench.lab.nextDelivery(for: bench.phone)
        #expect(delivery?.data == Array(#"{"data":{"message":"Hi"}}"#.utf8))
        bench.lab.showLocal(title: "", body: "Fetched", on: bench.phone)
        #expect(texts == ["Fetched"])
        #expect(bench.lab.inbox(of: bench.phone).last?.source == .local)
    }

    @Test("Data messages wait while the phone is offline, each of them, until their ttl")
    func waits() async throws {
        bench.lab.setOffline(bench.phone)
        #expect(try await bench.send(#""data":{"message":"1"}"#).status == 200)
        #expect(try await bench.send(#""data":{"message":"2"},"android":{"ttl":"60s"}"#).status == 200)
        #expect(try await bench.send(#""data":{"message":"3"},"android":{"ttl":"0s"}"#).status == 200)
        #expect(try await bench.send(#""data":{"message":"4"}"#).status == 200)
        bench.time.advance(seconds: 60)
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["1", "4"])
    }

    @Test("After a hundred waiting messages all of them are discarded")
    func overflow() async throws {
        bench.lab.setOffline(bench.phone)
        for number in 0...100 {
            #expect(try await bench.send(#""data":{"message":"\#(number)"}"#).status == 200)
        }
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["100"])
    }

    @Test("One message waits per collapse key, and four keys per app")
    func collapseKeys() async throws {
        bench.lab.setOffline(bench.phone)
        for (key, text) in [("a", "1"), ("b", "2"), ("b", "3"), ("c", "4"), ("d", "5"), ("e", "6")] {
            let fields = #""data":{"message":"\#(text)"},"android":{"collapse_key":"\#(key)"}"#
            #expect(try await bench.send(fields).status == 200)
        }
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["3", "4", "5", "6"])
    }

    @Test("Notifications without a collapse key share one")
    func notificationsCollapse() async throws {
        bench.lab.setOffline(bench.phone)
        for text in ["1", "2"] { #expect(try await bench.send(#""notification":{"body":"\#(text)"}"#).status == 200) }
        bench.lab.setOnline(bench.phone)
        #expect(texts == ["2"])
    }

    @Test("The same tag replaces what is shown")
    func tag() async throws {
        for text in ["1", "2"] {
            let fields = #""android":{"notification":{"body":"\#(text)","tag":"score"}}"#
            #expect(try await bench.send(fields).status == 200)
        }
        #expect(texts == ["2"])
    }

    @Test("A force-stopped app gets nothing until it is launched")
    func forceStopped() async throws {
        bench.lab.forceQuit(bench.phone)
        #expect(try await bench.send().status == 200)
        #expect(texts.isEmpty)
        bench.lab.launch(bench.phone)
        #expect(try await bench.send().status == 200)
        #expect(texts == ["News\nHello"])
    }

    @Test("A message for another package is not delivered")
    func restricted() async throws {
        let fields = #""notification":{"body":"x"},"android":{"restricted_package_name":"com.other"}"#
        #expect(try await bench.send(fields).status == 200)
        #expect(bench.lab.inbox(of: bench.phone).isEmpty)
    }
}

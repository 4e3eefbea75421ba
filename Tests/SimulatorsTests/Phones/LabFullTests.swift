import HTTPTypes
import Simulators
import Testing

/// What the services answer about a handle that nobody has, where the lab has no room for another phone: the handle is not dead.
@Suite struct LabFullTests {
    @Test func `FCM names the lab, and not the registration token`() async throws {
        let bench = FCMBench(adoptionLimit: 1)
        func target(_ letter: Character) -> String {
            "\"token\":\"\(String(repeating: letter, count: 22)):\(String(repeating: letter, count: 100))\""
        }
        #expect(try await bench.send(target: target("a")).status == 200)
        let full = try await bench.send(target: target("b"))
        #expect(full.status == 507 && full.text.contains(#""status":"LabFull""#) && !full.text.contains("UNREGISTERED"), "\(full.text)")
        #expect(try await bench.send().status == 200)
    }

    @Test func `WNS names the lab, and not the channel`() async throws {
        let bench = WNSBench(adoptionLimit: 1)
        #expect(try await bench.send(to: "https://db5.notify.windows.com/?token=one").status == 200)
        #expect(try await bench.send(to: "https://db5.notify.windows.com/?token=two").status == 507)
        #expect(try await bench.send(to: "https://db5.notify.windows.com/other").status == 404)
    }

    @Test func `a browser's service names the lab, and not the subscription`() async throws {
        let bench = WebPushBench(adoptionLimit: 1)
        func send(_ name: String) async throws -> Reply { try await bench.send { $0.path = "/wpush/v2/\(name)" } }
        #expect(try await send("one").status == 201)
        let full = try await send("two")
        #expect(full.status == 507 && full.text.contains(#""error":"LabFull""#), "\(full.text)")
        #expect(try await bench.send { $0.path = "/other" }.status == 404)
    }
}

import HTTPTypes
import Simulators
import Testing

/// Answers about an unknown handle when the lab has no room for another phone: the handle is not reported as dead.
@Suite struct LabFullTests {
    @Test func `FCM reports the lab as full, not the registration token as invalid`() async throws {
        let bench = FCMBench(adoptionLimit: 1)
        func target(_ letter: Character) -> String {
            "\"token\":\"\(String(repeating: letter, count: 22)):\(String(repeating: letter, count: 100))\""
        }
        #expect(try await bench.send(target: target("a")).status == 200)
        let full = try await bench.send(target: target("b"))
        #expect(full.status == 507 && full.text.contains(#""status":"LabFull""#) && !full.text.contains("UNREGISTERED"), "\(full.text)")
        #expect(try await bench.send().status == 200)
    }

    @Test func `a lab without memory for its phones refuses pushes until phones are removed`() async throws {
        let bench = FCMBench(storageLimit: 20_000)
        var sent = 0
        while try await bench.send().status == 200 {
            sent += 1
            try #require(sent < 1000)
        }
        let full = try await bench.send()
        #expect(full.status == 507 && full.text.contains(#""status":"LabFull""#), "\(full.text)")
        #expect(bench.lab.isOutOfMemory && !bench.lab.canAddPhone && sent > 10)
        #expect(bench.lab.storedBytes < 22_000)
        bench.lab.remove([bench.phone])
        // Only the phone's handle is left, which FCM still reports as unregistered.
        #expect(bench.lab.storedBytes < 2_000 && bench.lab.canAddPhone)
    }

    @Test func `a browser's service also reports a full lab for a known subscription`() async throws {
        let bench = WebPushBench(storageLimit: 0)
        #expect(try await bench.send().status == 507)
        #expect(try await bench.send { $0.path = "/other" }.status == 404)
    }

    @Test func `stored data of phones is counted, removed data is not`() {
        let time = ManualTime()
        let lab = PhoneLab(clock: time.clock, random: time.random, inboxLimit: 4)
        let phone = lab.addPhone(PhoneDescription(name: "x", platform: .fcm, app: PhoneApp("a")))
        lab.store(String(repeating: "v", count: 100), forKey: "key", on: phone)
        #expect(lab.storedBytes == 103)
        lab.store("v", forKey: "key", on: phone)
        lab.store(nil, forKey: "other", on: phone)
        #expect(lab.storedBytes == 4)
        lab.showLocal(title: "", body: String(repeating: "b", count: 1000), on: phone)
        let item = lab.storedBytes - 4
        #expect(item > 1000)
        for _ in 1...40 { lab.showLocal(title: "", body: String(repeating: "b", count: 1000), on: phone) }
        #expect(lab.storedBytes == 4 + lab.inbox(of: phone).count * item && lab.inbox(of: phone).count <= 5)
        lab.uninstall(phone)
        let handle = lab.storedBytes - lab.inbox(of: phone).count * item
        #expect(handle > 600 && handle < 2_000)
        lab.remove([phone])
        #expect(lab.storedBytes == handle)
    }

    @Test func `WNS reports the lab as full, not the channel as invalid`() async throws {
        let bench = WNSBench(adoptionLimit: 1)
        #expect(try await bench.send(to: "https://db5.notify.windows.com/?token=one").status == 200)
        #expect(try await bench.send(to: "https://db5.notify.windows.com/?token=two").status == 507)
        #expect(try await bench.send(to: "https://db5.notify.windows.com/other").status == 404)
    }

    @Test func `a browser's service reports the lab as full, not the subscription as invalid`() async throws {
        let bench = WebPushBench(adoptionLimit: 1)
        func send(_ name: String) async throws -> Reply { try await bench.send { $0.path = "/wpush/v2/\(name)" } }
        #expect(try await send("one").status == 201)
        let full = try await send("two")
        #expect(full.status == 507 && full.text.contains(#""error":"LabFull""#), "\(full.text)")
        #expect(try await bench.send { $0.path = "/other" }.status == 404)
    }
}

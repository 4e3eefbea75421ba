import HTTPTypes
import Simulators
import Testing

@Suite("WNS checks the notification")
struct WNSSimulatorPushTests {
    let bench = WNSBench()

    @Test("A valid toast is received and shown, and the answer has its correlation vector")
    func valid() async throws {
        let reply = try await bench.send { $0.set("ms-cv", "abc.0") }
        #expect(reply.status == 200)
        #expect(reply["x-wns-status"] == "received")
        #expect(reply["x-wns-msg-id"]?.count == 16)
        #expect(reply["ms-cv"] == "abc.0")
        #expect(reply["x-wns-deviceconnectionstatus"] == nil)
        #expect(bench.lab.inbox(of: bench.phone).map(\.text) == ["News\nHello"])
    }

    @Test("The connection status is returned on request")
    func status() async throws {
        #expect(
            try await bench.send { $0.set("x-wns-requestforstatus", "true") }["x-wns-deviceconnectionstatus"]
                == "connected")
        bench.lab.setOffline(bench.phone)
        #expect(
            try await bench.send { $0.set("x-wns-requestforstatus", "true") }["x-wns-deviceconnectionstatus"]
                == "disconnected")
    }

    @Test("Only POST is allowed")
    func method() async throws {
        #expect(try await bench.send { $0.method = .delete }.status == 405)
    }

    @Test("The access token must be known and not expired")
    func token() async throws {
        #expect(try await bench.send { $0.set("authorization", nil) }.status == 401)
        #expect(try await bench.send { $0.set("authorization", "Bearer x") }.status == 401)
        let token = try await bench.accessToken()
        bench.time.advance(seconds: 86399)
        #expect(try await bench.send { $0.set("authorization", "Bearer \(token)") }.status == 200)
        bench.time.advance(seconds: 1)
        let reply = try await bench.send { $0.set("authorization", "Bearer \(token)") }
        #expect(reply.status == 401)
        #expect(reply["x-wns-error-description"] != nil)
    }

    @Test("The channel must be one that WNS issued")
    func unknownChannel() async throws {
        #expect(try await bench.send { $0.path = "/?token=nothing" }.status == 404)
    }

    @Test("The channel must be the sender's")
    func foreignChannel() async throws {
        let phone = bench.lab.addPhone(PhoneDescription(name: "dan", platform: .wns, app: PhoneApp("Other.App")))
        #expect(try await bench.send(to: bench.lab.pushHandle(of: phone)).status == 403)
    }

    @Test("A replaced channel is 410, and every channel after thirty days")
    func gone() async throws {
        let old = bench.lab.pushHandle(of: bench.phone)
        bench.lab.rotateToken(of: bench.phone)
        #expect(try await bench.send(to: old).status == 410)
        #expect(try await bench.send().status == 200)
        bench.time.advance(seconds: 30 * 86400)
        #expect(try await bench.send().status == 410)
    }

    @Test("The type is required, and one of four", arguments: [nil, "toast", "wns/sound"])
    func type(value: String?) async throws {
        #expect(try await bench.send { $0.set("x-wns-type", value) }.status == 400)
    }

    @Test("The content type must match the type")
    func contentType() async throws {
        #expect(try await bench.send { $0.set("content-type", "application/json") }.status == 400)
        #expect(try await bench.send { $0.set("content-type", nil) }.status == 400)
        #expect(try await bench.send { $0.set("content-type", "text/xml; charset=utf-8") }.status == 200)
        #expect(try await bench.send("x", type: "wns/raw") { $0.set("content-type", "text/xml") }.status == 400)
    }

    @Test("A correct Content-Length is required, and chunked bodies are rejected")
    func length() async throws {
        #expect(try await bench.send { $0.set("content-length", nil) }.status == 400)
        #expect(try await bench.send { $0.set("content-length", "3") }.status == 400)
        #expect(try await bench.send { $0.set("transfer-encoding", "chunked") }.status == 400)
    }

    @Test(
        "Optional headers must have valid values",
        arguments: [
            ("x-wns-cache-policy", "maybe"), ("x-wns-requestforstatus", "yes"), ("x-wns-tag", "a b"),
            ("x-wns-tag", "12345678901234567"), ("x-wns-group", "é"), ("x-wns-ttl", "soon"), ("x-wns-ttl", "-1"),
            ("x-wns-priority", "Urgent"), ("x-wns-priority", "0"), ("x-wns-priority", "5"), ("x-wns-suppresspopup", "true"),
        ])
    func optionalHeaders(name: String, value: String) async throws {
        let reply = try await bench.send { $0.set(name, value) }
        #expect(reply.status == 400)
        #expect(reply["x-wns-error-description"]?.lowercased().contains(name) == true)
    }

    @Test("A notification has at most 5000 bytes")
    func size() async throws {
        let fits = String(repeating: "x", count: 5000)
        #expect(try await bench.send(fits, type: "wns/raw").status == 200)
        #expect(try await bench.send(fits + "x", type: "wns/raw").status == 413)
    }

    @Test("A channel with too many notifications is throttled with 200")
    func channelThrottled() async throws {
        bench.simulator.update { $0.pushesPerMinutePerChannel = 1 }
        #expect(try await bench.send()["x-wns-status"] == "received")
        let reply = try await bench.send()
        #expect(reply.status == 200)
        #expect(reply["x-wns-status"] == "channelthrottled")
        #expect(bench.lab.inbox(of: bench.phone).count == 1)
    }

    @Test("An app with too many notifications is throttled with 406")
    func throttled() async throws {
        bench.simulator.update { $0.pushesPerMinute = 1 }
        #expect(try await bench.send().status == 200)
        let reply = try await bench.send()
        #expect(reply.status == 406)
        #expect(reply["retry-after"] == "60")
    }

    @Test("Malformed XML is accepted, and lost on the device", arguments: ["<toast>", "<tile/>", "hello"])
    func badXML(body: String) async throws {
        let reply = try await bench.send(body)
        #expect(reply.status == 200)
        #expect(reply["x-wns-status"] == "received")
        let item = try #require(bench.lab.inbox(of: bench.phone).first)
        #expect(!item.isShown)
        #expect(item.reasonNotShown != nil)
    }

    @Test("A scripted fault rejects a valid request")
    func fault() async throws {
        bench.simulator.failNext(1, with: .unavailable)
        #expect(try await bench.send().status == 503)
        #expect(try await bench.send().status == 200)
    }
}

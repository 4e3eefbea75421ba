import Foundation
import HostSupport
import HubWire
import PushModel
import Testing

/// `pushhost trace` with a server that stores delivery results.
@Suite struct TraceCommandTests {
    private static let handle = String(repeating: "0123456789abcdef", count: 4)

    private static func install(_ id: String, _ hub: ServedHub, tags: String) async throws {
        let answer = try await hub.call(
            "PUT", "/hub/installations/\(id)?api-version=2020-06",
            body:
                #"{"installationId": "\#(id)", "userId": "ana", "platform": "apns", "tags": ["\#(tags)"], "pushChannel": "\#(id.utf8.count)\#(handle.dropFirst())"}"#
        )
        #expect(answer.status == 200)
    }

    private static func send(_ hub: ServedHub, to tag: String, _ more: [String] = []) async throws -> String {
        let file = hub.data.appending(path: "payload.json")
        try Data(#"{"aps": {"alert": "Goal"}}"#.utf8).write(to: file)
        let send = try await hub.command(["send", "--native", "apns", file.path, "--to", tag, "--json"] + more)
        return try #require(
            try JSON(parsing: send.output)["result"]?["items"]?.array?.first?["notificationId"]?.string, "\(send.output)\(send.errors)")
    }

    private static func trace(_ hub: ServedHub, _ arguments: [String]) async throws -> (status: Int32, json: JSON) {
        let program = try await hub.command(["trace"] + arguments + ["--json"])
        return (program.status, try JSON(parsing: program.output))
    }

    @Test func `Traces include what the lab's phones did, and the JSON round-trips`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LAB": "on"]) { hub in
            try await Self.install("ana-1", hub, tags: "a")
            try await Self.install("ana-22", hub, tags: "b")
            let id = try await Self.send(hub, to: "a")
            let (status, json) = try await Self.trace(hub, [id, "--device", "ana"])
            #expect(status == 0 && json["schema"]?.string == "pushhost.manage/1")
            let answer = try #require(json["result"].flatMap { TraceJSON.answer($0) })
            #expect(answer.traces.map(\.device) == ["ana-1", "ana-22"])
            #expect(answer.traces.map(\.cause) == [.shown, .tagMissing])
            #expect(answer.traces.allSatisfy { trace in trace.lines.allSatisfy { $0.time != nil } })
            // Parsing and writing gives the same JSON.
            #expect(json["result"] == TraceJSON.json(answer))
            let counts = try #require((try await Self.trace(hub, [id])).json["result"].flatMap { TraceJSON.answer($0) })
            #expect(counts.counts.map(\.cause) == [.shown] && counts.counts.first?.example == "ana-1")
            // A trace does not show the whole token.
            let text = try await hub.command(["trace", id, "--device", "ana-1"])
            #expect(text.status == 0 && !text.output.lowercased().contains(Self.handle.dropFirst(8)), "\(text.output)")
        }
    }

    @Test func `If push services do not respond, the trace says what is pending`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_SIMULATORS": "http://127.0.0.1:1"]) { hub in
            try await Self.install("ana-1", hub, tags: "a")
            let id = try await Self.send(hub, to: "a", ["--at", "1h"])
            let (status, json) = try await Self.trace(hub, [id, "--device", "ana-1"])
            #expect(status == 0)
            let trace = try #require(json["result"].flatMap { TraceJSON.answer($0) }?.traces.first)
            #expect(trace.cause == .scheduled && trace.sentence.hasPrefix("The notification is scheduled for "))
            #expect(try await hub.command(["notification", "cancel", id]).status == 0)
            let text = try await hub.command(["trace", id, "--device", "ana-1"])
            #expect(text.output.contains("NOT SHOWN") && text.output.contains("was cancelled at"), "\(text.output)")
        }
    }

    @Test func `An unknown device or notification is rejected with the nearest match`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LAB": "on"]) { hub in
            try await Self.install("ana-1", hub, tags: "a")
            let id = try await Self.send(hub, to: "a")
            let near = try await Self.trace(hub, [id, "--device", "ana-l"])
            #expect(near.status == 4 && near.json["error"]?["code"]?.string == "device.not_found")
            #expect(near.json["error"]?["hint"]?.string == "did you mean \"ana-1\"?")
            let unknown = try await Self.trace(hub, ["\(id)x", "--device", "ana-1"])
            #expect(unknown.status == 4 && unknown.json["error"]?["code"]?.string == "notification.not_found")
            let stranger = try await Self.trace(hub, [id, "--device", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"])
            #expect(stranger.status == 0)
            #expect(stranger.json["result"]?["traces"]?.array?.first?["cause"]?.string == "not_registered")
            #expect(try await hub.command(["trace", id, "--device", ""]).status == 2)
            #expect(try await Self.trace(hub, []).json == Self.trace(hub, [id]).json)
            #expect(try await Self.trace(hub, [String(id.prefix(6))]).status == 0)
            let parameter = try await hub.call("GET", "/api/v1/hubs/hub/notifications/\(id)/trace?devise=ana-1")
            #expect(parameter.status == 400 && parameter.body.contains("request.parameter"))
        }
    }
}

import Foundation
import HostSupport
import PushModel
import Testing

/// A server whose team has used too many provider tokens at APNs.
@Suite struct BlockedCredentialTests {
    @Test func `a blocked credential is logged and reported by the doctor and by the hub`() async throws {
        let simulator = try await SimulatorProgram(["--adopt", "--token-updates", "1"], serving: "all")
        // Another program of the team has sent with its own token.
        let other = try await simulator.shell(
            "curl -sSi --http2 --cacert sim/certificate.pem $APNS/3/device/\(String(repeating: "ab", count: 32)) -d '{\"aps\":{}}' "
                + "-H \"authorization: bearer $TOKEN\" -H 'apns-topic: dev.pushhost.simulated'")
        #expect(other.output.hasPrefix("HTTP/2 200"), "\(other.output)\(other.errors)")
        let settings = ["PUSHHOST_SIMULATORS": "http://127.0.0.1:\(simulator.controlPort)", "PUSHHOST_LOG_LEVEL": "warning"]
        try await ServedHub.serving(settings: settings) { hub in
            let body = #"{"installationId": "pad", "platform": "apns", "pushChannel": "\#(String(repeating: "cd", count: 32))"}"#
            #expect(try await hub.call("PUT", "/hub/installations/pad?api-version=2020-06", body: body).status == 200)
            let accepted = try await hub.call(
                "POST", "/hub/messages?api-version=2020-06",
                ["ServiceBusNotification-Format": "apple", "Content-Type": "application/json"], body: #"{"aps":{"alert":"Hi"}}"#)
            #expect(accepted.status == 201)
            try await hub.hear("hub \"hub\": APNs fails all deliveries: TooManyProviderTokenUpdates")
            var issue: JSON?
            // The verdict is stored just after the log line.
            while issue == nil {
                let shown = try await hub.command(["hub", "show", "--json"])
                issue = try JSON(parsing: shown.output)["result"]?["troubles"]?.array?.first
            }
            #expect(
                issue?["reason"] == "TooManyProviderTokenUpdates" && issue?["explanation"]?.string?.isEmpty == false
                    && issue?["nextTryAt"] != nil, "\(issue as Any)")
            let doctor = try await hub.command(["doctor"]).output
            #expect(
                doctor.contains(
                    "hub hub: APNs rejects the hub's credential (TooManyProviderTokenUpdates); next attempt at "),
                "\(doctor)")
            #expect(doctor.contains("use one token for all senders with the key"), "\(doctor)")
            let shown = try await hub.command(["hub", "show"]).output
            #expect(
                shown.contains("APNs: rejects the hub's credential (TooManyProviderTokenUpdates); next attempt at "),
                "\(shown)")
        }
        #expect(await simulator.end().status == 0)
    }
}

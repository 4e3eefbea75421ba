import Foundation
import PushModel
import PushRuntime
import Testing

@testable import PushServer

@Suite struct DeliverySettingsTests {
    private func fault(_ yaml: String) -> String? {
        do throws(PushError) {
            _ = try ServerSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: [:])
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `the connection to APNs is set by an address, roots and pins`() throws {
        let pin = Data(repeating: 7, count: 32).base64EncodedString()
        let yaml = """
            apns:
              address: https://127.0.0.1:8443
              roots: /tmp/roots.pem
              pins: ["api.push.apple.com=sha256//\(pin)"]
            """
        let settings = try ServerSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: [:])
        #expect(settings.delivery.apns == "https://127.0.0.1:8443")
        #expect(settings.delivery.roots == "/tmp/roots.pem")
        #expect(settings.delivery.pins.count == 1)
    }

    @Test func `an address without TLS and a malformed pin are faults`() {
        #expect(fault("apns: { address: 'http://127.0.0.1:8443' }")?.contains("apns.address") == true)
        for pin in ["abc", "host=", "host=sha256//", "host=sha256//AAAA", "host=sha1//\(Data(count: 32).base64EncodedString())"] {
            #expect(fault("apns: { pins: ['\(pin)'] }")?.contains("apns.pins") == true, "\(pin)")
        }
    }

    @Test func `the connections to FCM, WNS and Web Push are set, and invalid values are reported`() throws {
        let yaml = """
            fcm: { address: "https://127.0.0.1:8443", roots: /tmp/fcm.pem }
            wns: { address: "http://127.0.0.1:8090", channel_hosts: ["localhost:8443", "http://127.0.0.1:8090", "*.example.com"] }
            webpush: { origins: ["https://localhost:8443", "https://127.0.0.1:8090"] }
            """
        let delivery = try ServerSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: [:]).delivery
        #expect(delivery.fcm == ServiceSettings(address: "https://127.0.0.1:8443", roots: "/tmp/fcm.pem"))
        #expect(delivery.wns.allowedHosts == ["localhost:8443", "http://127.0.0.1:8090", "*.example.com"])
        #expect(delivery.webPush.allowedHosts == ["https://localhost:8443", "https://127.0.0.1:8090"])
        for (name, value) in [
            ("fcm.address", "http://127.0.0.1:8443"), ("fcm.address", "https://127.0.0.1:8443/v1"),
            ("wns.address", "http://127.0.0.1:8090/x"), ("wns.channel_hosts", "https://localhost:8443"), ("wns.channel_hosts", "a/b"),
            ("wns.channel_hosts", "*.example.com:8443"), ("webpush.origins", "localhost:8443"),
            ("webpush.origins", "http://127.0.0.1:8090"),
            ("webpush.origins", "https://localhost:8443/p/1"),
        ] {
            let parts = name.split(separator: ".")
            let list = name.hasSuffix("address") ? "'\(value)'" : "['\(value)']"
            let found = fault("\(parts[0]): { \(parts[1]): \(list) }") ?? ""
            #expect(found.contains("\(name): invalid") && found.contains("\"\(value)\""), "\(name) \(value)")
        }
    }

    @Test func `unreadable roots of each service are reported with their setting`() {
        for (name, settings) in [
            ("fcm.roots", DeliverySettings(fcm: ServiceSettings(roots: "/nowhere/roots.pem"))),
            ("wns.roots", DeliverySettings(wns: ServiceSettings(roots: "/nowhere/roots.pem"))),
            ("webpush.roots", DeliverySettings(webPush: ServiceSettings(roots: "/nowhere/roots.pem"))),
        ] {
            let error = #expect(throws: PushError.self) { try ServiceTransports.Trust(settings) }
            #expect(error?.message.hasPrefix("\(name): /nowhere/roots.pem: ") == true, "\(name)")
        }
    }

    @Test func `unreadable or empty roots are reported`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushhost-roots-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "roots.pem").path
        func error(_ roots: String) -> PushError? {
            #expect(throws: PushError.self) { try DeliverySettings(roots: roots).transport(random: SystemRandom()) }
        }
        #expect(error(file)?.message.contains(file) == true)
        try "nothing".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(error(file)?.message == "apns.roots: \(file): the file of trust roots contains no PEM certificate")
        #expect(error(file)?.code == "settings.invalid")
    }

    @Test func `The retention of plans has bounds and defaults to a week`() throws {
        func settings(_ yaml: String) throws -> ServerSettings {
            try ServerSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: [:])
        }
        #expect(ServerSettings().delivery.planRetention == .seconds(7 * 86_400))
        #expect(try settings("keep: { plans: 90m }").delivery.planRetention == .seconds(5400))
        for text in ["59s", "31d"] {
            let error = #expect(throws: PushError.self) { try settings("keep: { plans: \(text) }") }
            #expect(error?.details["faults"] == ["keep.plans: must be between 1m and 30d"])
        }
    }
}

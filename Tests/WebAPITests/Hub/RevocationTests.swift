import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

/// Requests whose permission is revoked before their body arrives.
@Suite struct RevocationTests {
    private enum Event: String, CaseIterable {
        case deleted, replaced, revoked, rotated

        /// The operator's action before the body arrives.
        func happen(to namespace: Namespace) async throws(PushError) {
            switch self {
            case .deleted: try await namespace.delete("hub")
            case .replaced:
                try await namespace.delete("hub")
                _ = try await namespace.create("hub", HubDescription())
            case .revoked: try await namespace.ruleEditor.remove(Namespace.fullRule, from: "hub")
            case .rotated: _ = try await namespace.ruleEditor.rotate(.primary, of: Namespace.fullRule, in: "hub")
            }
        }
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, _ body: String, _ bench: RouteBench, fields: HTTPFields = [:], while event: Event?
    ) throws -> WebRequest {
        let signed = try bench.request("/hub")
        let all = HTTPFields(Array(signed.fields) + Array(fields))
        return WebRequest(
            method: method, server: signed.server, path: path, query: RequestQuery(parsing: ""), fields: all,
            body: RequestBody { _ throws(PushError) in
                try await event?.happen(to: bench.access.namespace)
                return Array(body.utf8)
            },
            receipt: WebRequest.Receipt(trackingID: "t", time: signed.now, revision: bench.access.namespace.revision))
    }

    @Test func `a restored backup increases the revision`() async throws {
        let bench = try await RouteBench()
        let namespace = bench.access.namespace
        let before = namespace.revision
        for count in 1...2 {
            try await namespace.restore({ bench.store }) { willReplace throws(PushError) in await willReplace() }
            #expect(namespace.revision >= before + count)
        }
    }

    /// The status of the answer or the error.
    private func status(_ work: () async throws(PushError) -> WebAnswer) async -> Int {
        do throws(PushError) {
            return try await work().status.code
        } catch {
            return error.status ?? 500
        }
    }

    private static let evil = """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription \
        xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><AuthorizationRules><AuthorizationRule>\
        <ClaimType>SharedAccessKey</ClaimType><Rights><AccessRights>Manage</AccessRights><AccessRights>Send</AccessRights>\
        <AccessRights>Listen</AccessRights></Rights><KeyName>evil</KeyName>\
        <PrimaryKey>AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=</PrimaryKey></AuthorizationRule></AuthorizationRules>\
        </NotificationHubDescription></content></entry>
        """

    @Test(arguments: Event.allCases) private func `a key revoked before the body arrives cannot change the hub`(event: Event) async throws {
        for ifMatch in [false, true] {
            let bench = try await RouteBench()
            let routes = HubRoutes(access: bench.access, random: SeededRandom(seed: 1))
            let request = try request(.put, "/hub", Self.evil, bench, fields: ifMatch ? [.ifMatch: "*"] : [:], while: event)
            #expect([401, 404].contains(await status { () throws(PushError) in try await routes.put("hub", request) }))
            let rules = bench.access.namespace.hub("hub")?.record.description.rules ?? []
            #expect(!rules.contains { $0.name == "evil" })
            #expect((bench.access.namespace.hub("hub") == nil) == (event == .deleted))
        }
        // Without an event it can.
        let bench = try await RouteBench()
        let routes = HubRoutes(access: bench.access, random: SeededRandom(seed: 1))
        let request = try request(.put, "/hub", Self.evil, bench, fields: [.ifMatch: "*"], while: nil)
        #expect(await status { () throws(PushError) in try await routes.put("hub", request) } == 200)
        #expect(bench.access.namespace.hub("hub")?.record.description.rules.map(\.name) == ["evil"])
    }

    @Test(arguments: Event.allCases) private func `such a key cannot create or rotate keys`(event: Event) async throws {
        for (path, body) in [
            ("/api/v1/hubs/hub/keys", #"{"name": "evil", "rights": ["Manage"]}"#),
            ("/api/v1/hubs/hub/keys/\(Namespace.listenRule)/rotate", #"{"key": "primary"}"#),
        ] {
            let bench = try await RouteBench()
            let interface = bench.management
            let request = try request(.post, path, body, bench, while: event)
            #expect([401, 404].contains(await status { () throws(PushError) in try await interface.answer(request) }), "\(path)")
            #expect(!(bench.access.namespace.hub("hub")?.record.description.rules ?? []).contains { $0.name == "evil" })
        }
    }

    @Test(arguments: Event.allCases) private func `such a key cannot send or register`(event: Event) async throws {
        let handle = String(repeating: "AB", count: 32)
        let bench = try await RouteBench()
        let messages = MessageRoutes(access: bench.access)
        let fields = HTTPFields([
            HTTPField(name: try #require(HTTPField.Name("ServiceBusNotification-Format")), value: "apple")
        ])
        let send = try request(.post, "/hub/messages", #"{"aps":{"alert":"x"}}"#, bench, fields: fields, while: event)
        #expect([401, 404].contains(await status { () throws(PushError) in try await messages.send("hub", send) }))
        let other = try await RouteBench()
        let installations = InstallationRoutes(access: other.access)
        let body = #"{"installationId": "i", "platform": "apns", "pushChannel": "\#(handle)"}"#
        let put = try request(.put, "/hub/installations/i", body, other, while: event)
        #expect([401, 404].contains(await status { () throws(PushError) in try await installations.put("i", of: "hub", put) }))
    }
}

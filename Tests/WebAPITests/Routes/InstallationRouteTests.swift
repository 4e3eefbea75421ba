import HTTPTypes
import HubWire
import PushCore
import Support
import Testing

@testable import WebAPI

/// What a key with the right Listen alone may write.
@Suite struct InstallationRouteTests {
    private static let listening = Namespace.listenRule
    private static let token = String(repeating: "A1", count: 32)

    private func body(_ members: String = "") -> String {
        #"{"installationId":"pad","platform":"apns","pushChannel":"\#(Self.token)"\#(members)}"#
    }

    private func routes(_ bench: RouteBench, _ policy: ClientPolicy = ClientPolicy()) -> InstallationRoutes {
        var access = bench.access
        access.policy = policy
        return InstallationRoutes(access: access)
    }

    private func put(_ routes: InstallationRoutes, _ bench: RouteBench, _ members: String, rule: String) async throws -> WebAnswer {
        try await routes.put("pad", of: "hub", bench.request("/hub/installations/pad", rule: rule, body: body(members)))
    }

    private func patch(_ routes: InstallationRoutes, _ bench: RouteBench, _ operations: String, rule: String) async throws -> WebAnswer {
        try await routes.patch("pad", of: "hub", bench.request("/hub/installations/pad", rule: rule, body: operations))
    }

    @Test(
        "A registration and an installation with a reserved tag are refused, and the tag is named",
        arguments: ["$InstallationId:{victim-1}", "$installationID:{victim-1}", " $UserId:{bob} ", "$tag", "$"])
    func reserved(tag: String) async throws {
        let bench = try await RouteBench()
        let xml = """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AppleRegistrationDescription \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><Tags>a,\(tag)</Tags>\
            <DeviceToken>\(Self.token)</DeviceToken></AppleRegistrationDescription></content></entry>
            """
        let registrations = RegistrationRoutes(access: bench.access)
        let shown = tag.trimmed
        for error in [
            await refusal {
                try await registrations.create("hub", bench.request("/hub/registrations", rule: Self.listening, body: xml))
            },
            await refusal {
                try await registrations.put(
                    "1-2-3", of: "hub", bench.request("/hub/registrations/1-2-3", rule: Self.listening, body: xml))
            },
            await refusal { try await put(routes(bench), bench, #","tags":["\#(shown)"]"#, rule: Self.listening) },
            await refusal {
                try await put(routes(bench), bench, #","templates":{"t":{"body":"{}","tags":["\#(shown)"]}}"#, rule: Self.listening)
            },
        ] {
            #expect(error?.code == "tag.reserved" && error?.status == 400)
            #expect(error?.message == "tags cannot start with $: \"\(shown)\"")
        }
    }

    @Test("A userId from a key with Listen alone is stored, as in Azure, unless the operator refuses it") func userID() async throws {
        let bench = try await RouteBench()
        _ = try await put(routes(bench), bench, #","userId":"bob""#, rule: Self.listening)
        let hub = try #require(bench.access.namespace.hub("hub")?.service)
        #expect(try await hub.installation("pad").userID == "bob")
        let strict = routes(bench, ClientPolicy(listenUserID: .refuse))
        for error in [
            await refusal { try await put(strict, bench, #","userId":"eve""#, rule: Self.listening) },
            await refusal { try await put(strict, bench, #","USERID":"eve","tags":["a"]"#, rule: Self.listening) },
            await refusal {
                try await patch(strict, bench, #"[{"op":"replace","path":"/userId","value":"eve"}]"#, rule: Self.listening)
            },
            await refusal {
                try await patch(
                    strict, bench, #"[{"op":"add","path":"/tags","value":"a"},{"op":"Add","path":"/USERID","value":"eve"}]"#,
                    rule: Self.listening)
            },
        ] {
            #expect(error?.code == "installation.user_id" && error?.status == 403)
            #expect(error?.message.contains("has the right Listen alone and cannot set a userId") == true)
        }
        let kept = try await hub.installation("pad")
        #expect(kept.userID == "bob" && kept.tags.isEmpty)
        // What says nothing of a user is for every key, and a key that sends may say it.
        _ = try await patch(strict, bench, #"[{"op":"add","path":"/tags","value":"a"}]"#, rule: Self.listening)
        _ = try await put(strict, bench, "", rule: Self.listening)
        #expect(try await hub.installation("pad").userID == nil)
        _ = try await put(strict, bench, #","userId":"ana""#, rule: Namespace.fullRule)
        _ = try await patch(strict, bench, #"[{"op":"remove","path":"/userId"}]"#, rule: Self.listening)
        #expect(try await hub.installation("pad").userID == nil)
        _ = try await patch(strict, bench, #"[{"op":"add","path":"/userId","value":"ana"}]"#, rule: Namespace.fullRule)
        #expect(try await hub.installation("pad").userID == "ana")
    }

    @Test("The owner's socket asks for no key, and may say whose device it is") func trusted() async throws {
        let bench = try await RouteBench()
        var access = bench.access
        access.policy = ClientPolicy(listenUserID: .refuse)
        access.isTrusted = true
        let answer = try await InstallationRoutes(access: access).put(
            "pad", of: "hub", bench.unsigned("/hub/installations/pad", body: body(#","userId":"ana""#)))
        #expect(answer.status == .ok)
    }
}

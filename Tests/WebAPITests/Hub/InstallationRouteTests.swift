import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

/// What a key with only the right Listen may write.
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
        "A registration and an installation with a reserved tag are rejected, and the error names the tag",
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

    @Test("A userId from a Listen-only key is stored, as in Azure, unless the operator rejects it") func userID() async throws {
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
            #expect(error?.message.contains("has only the right Listen and cannot set a userId") == true)
        }
        let kept = try await hub.installation("pad")
        #expect(kept.userID == "bob" && kept.tags.isEmpty)
        // Every key may write without a user, and a key with Send may set one.
        _ = try await patch(strict, bench, #"[{"op":"add","path":"/tags","value":"a"}]"#, rule: Self.listening)
        _ = try await put(strict, bench, "", rule: Self.listening)
        #expect(try await hub.installation("pad").userID == nil)
        _ = try await put(strict, bench, #","userId":"ana""#, rule: Namespace.fullRule)
        _ = try await patch(strict, bench, #"[{"op":"remove","path":"/userId"}]"#, rule: Self.listening)
        #expect(try await hub.installation("pad").userID == nil)
        _ = try await patch(strict, bench, #"[{"op":"add","path":"/userId","value":"ana"}]"#, rule: Namespace.fullRule)
        #expect(try await hub.installation("pad").userID == "ana")
    }

    @Test(
        "With the setting refuse, a Listen-only key cannot redirect a user's notifications to another channel", arguments: ["apns", "wns"])
    func channel(platform: String) async throws {
        let bench = try await RouteBench()
        let strict = routes(bench, ClientPolicy(listenUserID: .refuse))
        let hub = try #require(bench.access.namespace.hub("hub")?.service)
        let (mine, theirs) =
            platform == "apns"
            ? (String(repeating: "B2", count: 32), Self.token)
            : ("https://db.notify.windows.com/?token=mine", "https://db.notify.windows.com/?token=theirs")
        func write(_ channel: String, _ members: String, rule: String = Self.listening) async throws -> WebAnswer {
            let body = #"{"installationId":"pad","platform":"\#(platform)","pushChannel":"\#(channel)"\#(members)}"#
            return try await strict.put("pad", of: "hub", bench.request("/hub/installations/pad", rule: rule, body: body))
        }
        _ = try await write(theirs, #","userId":"bob""#, rule: Namespace.fullRule)
        let before = try await hub.installation("pad")
        let user = #"{"op":"replace","path":"/userId","value":"bob"}"#
        var patches = [
            #"[{"op":"replace","path":"/pushChannel","value":"\#(mine)"}]"#, #"[{"op":"Add","path":"/PUSHCHANNEL","value":"\#(mine)"}]"#,
            #"[{"op":"remove","path":"/userId"},{"op":"replace","path":"/pushChannel","value":"\#(mine)"},\#(user)]"#,
            #"[{"op":"replace","path":"/pushChannel","value":"\#(mine)"},{"op":"add","path":"/userid","value":"BOB"}]"#,
        ]
        if platform == "wns" {
            patches += [
                #"[{"op":"add","path":"/secondaryTiles/t","value":{"pushChannel":"\#(mine)"}}]"#,
                #"[{"op":"add","path":"/secondaryTiles","value":{"t":{"pushChannel":"\#(mine)"}}}]"#,
                #"[{"op":"add","path":"/secondaryTiles/t","value":{"pushChannel":"\#(theirs)"}},"#
                    + #"{"op":"replace","path":"/secondaryTiles/t/pushChannel","value":"\#(mine)"}]"#,
            ]
            let tiled = #","userId":"bob","secondaryTiles":{"t":{"pushChannel":"\#(mine)"}}"#
            #expect(await refusal { try await write(theirs, tiled) }?.code == "installation.user_id")
        }
        for operations in patches {
            let error = await refusal { try await patch(strict, bench, operations, rule: Self.listening) }
            #expect(error?.code == "installation.user_id" && error?.status == 403, "\(operations)")
            #expect(error?.message.contains("cannot give an installation with a userId another pushChannel") == true)
        }
        #expect(await refusal { try await write(mine, #","userId":"bob""#) }?.code == "installation.user_id")
        // Operations that Azure does not have are refused too.
        for operation in [
            #"{"op":"move","from":"/tags","path":"/userId"}"#, #"{"op":"copy","from":"/tags","path":"/pushChannel"}"#,
            #"{"op":"replace","path":"","value":{"userId":"eve"}}"#, #"{"op":"add","path":"/","value":{"userId":"eve"}}"#,
        ] {
            let error = await refusal { try await patch(strict, bench, "[\(operation)]", rule: Self.listening) }
            #expect(error?.code == "installation.patch", "\(operation)")
        }
        var now = try await hub.installation("pad")
        now.updatedAt = before.updatedAt
        #expect(now == before)
        // A device may repeat its own values, and log out, which frees the channel.
        _ = try await write(theirs, #","userId":"Bob","tags":["a"]"#)
        _ = try await patch(strict, bench, "[\(user)]", rule: Self.listening)
        #expect(try await hub.installation("pad").tags.map(\.text) == ["a"])
        _ = try await patch(
            strict, bench, #"[{"op":"remove","path":"/userId"},{"op":"replace","path":"/pushChannel","value":"\#(mine)"}]"#,
            rule: Self.listening)
        #expect(try await hub.installation("pad").userID == nil)
        _ = try await patch(strict, bench, "[\(user)]", rule: Namespace.fullRule)
        _ = try await patch(
            strict, bench, #"[{"op":"replace","path":"/pushChannel","value":"\#(theirs)"}]"#, rule: Namespace.fullRule)
        #expect(try await hub.installation("pad").handle == before.handle)
    }

    @Test("Registrations and jobs do not bypass this: those of an installation cannot be written one by one, and jobs need Manage")
    func otherWays() async throws {
        let bench = try await RouteBench()
        let strict = routes(bench, ClientPolicy(listenUserID: .refuse))
        _ = try await put(strict, bench, #","userId":"bob""#, rule: Namespace.fullRule)
        let hub = try #require(bench.access.namespace.hub("hub")?.service)
        let id = try #require(try await hub.registrations(.all, page: Page()).registrations.first?.id)
        let xml = """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AppleRegistrationDescription \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
            <DeviceToken>\(String(repeating: "B2", count: 32))</DeviceToken></AppleRegistrationDescription></content></entry>
            """
        let registrations = RegistrationRoutes(access: bench.access)
        let path = "/hub/registrations/\(id)"
        let written = await refusal {
            try await registrations.put(id.text, of: "hub", bench.request(path, rule: Self.listening, body: xml))
        }
        #expect(written?.code == "hub.installation" && written?.status == 409)
        let jobs = JobRoutes(access: bench.access, random: SeededRandom(seed: 1))
        let job = await refusal { try await jobs.create("hub", bench.request("/hub/jobs", rule: Self.listening, body: "<x/>")) }
        #expect(job?.code == "sas.forbidden")
        #expect(try await hub.installation("pad").userID == "bob")
    }

    @Test("The owner's socket needs no key and can set the user of a device") func trusted() async throws {
        let bench = try await RouteBench()
        var access = bench.access
        access.policy = ClientPolicy(listenUserID: .refuse)
        access.isTrusted = true
        let answer = try await InstallationRoutes(access: access).put(
            "pad", of: "hub", bench.unsigned("/hub/installations/pad", body: body(#","userId":"ana""#)))
        #expect(answer.status == .ok)
    }
}

import Bindings
import HostSupport
import Lua
import Testing

@Suite struct SecretTests {
    private static let script = """
        local secret = push.secret "demo_password"
        local s = login "alice"
        for _, name in ipairs { "apns", "fcm", "wns" } do phone(s, name, name) end
        push.send { to = "username:alice", alert = "Hello" }
        print(secret, tostring(secret), ("%s"):format(secret))
        push.log.warn(secret)
        for _, x in ipairs(push.wire()) do
          print(x.body, x.response_body)
          for name, value in pairs(x.headers) do print(name, value) end
        end
        local _, a = pcall(function() return "" .. secret end)
        local _, b = push.try(push.json.encode, { secret })
        local _, c = push.try(push.login, { username = "alice", password = push.secret "api_key" })
        local _, d = pcall(push.login, { username = "alice", pasword = secret })
        local _, e = pcall(push.send, { to = "a", alert = secret })
        print(a, b, c, d, e)
        push.check(secret == nil, "secrets are shown as " .. tostring(secret))
        push.try(function() push.expect(secret).to.equal "x" end)
        push.try(function() push.expect({ s = secret }).to.be_nil() end)
        """

    @Test func `a secret prints as asterisks and appears in no event, wire or error`() async throws {
        let run = try await rehearse(Self.script + "\nerror(secret)")
        #expect(run.error != nil)
        #expect(run.log.first == "***\t***\t***")
        for secret in [TestSecrets.password, "k-93f1c7", "battery"] {
            #expect(!run.everything.contains(secret), "\(secret) leaked")
        }
        #expect(run.events.contains { if case .crossed = $0 { true } else { false } })
    }

    @Test func `credentials are masked on the wire`() async throws {
        let run = try await rehearse(Self.script)
        let masks = run.everything.ranges(of: "***").count
        #expect(masks > 6)
        #expect(!run.everything.contains("eyJ"), "a signed token is visible")
    }

    @Test func `a missing secret is reported with the nearest name and where it was looked for`() async throws {
        let error = try await failure(of: "\npush.secret 'demo_pasword'")
        #expect(error.code == "secret.not_found")
        #expect(error.message == "unknown secret \"demo_pasword\"; did you mean \"demo_password\"?")
        #expect(error.hint == "put it into secrets.json")
        #expect(error.location?.line == 2)
    }

    @Test func `a script cannot read the characters of a secret`() async throws {
        for attempt in ["#s", "s .. ''", "s.text", "s:reveal()", "next(s)", "string.len(s)", "rawget(s, 1)", "s.x.y"] {
            let run = try await rehearse("local s = push.secret 'demo_password'\nreturn \(attempt)")
            #expect(run.error != nil, "\(attempt)")
            #expect(!run.everything.contains("battery"), "\(attempt)")
        }
        #expect(try await result(of: "return push.secret 'demo_password'") == "null")
    }
}

import Bindings
import Lua
import Testing

@testable import PushHost

@Suite struct LineCompletionTests {
    @Test(
        arguments: [
            ("", nil), ("pu", "name pu"), ("x = pu", "name pu"), ("print(pu", "name pu"), ("a ..b", "name b"), ("push.", "member push. "),
            ("push.se", "member push. se"), ("push.tag.us", "member push.tag. us"), ("x = phone:of", "member phone: of"),
            ("a.b:", "member a.b: "), ("f().x", nil), ("a[1].x", nil), ("\"push.se", nil), ("-- push.se", nil), ("[[ push.", nil),
            ("x = 12", nil), ("push.send {", "key push.send "), ("push.send{ al", "key push.send al"),
            ("push.send({ al", "key push.send al"),
            ("push.send { alert = 'a, b', t", "key push.send t without alert"), ("push.send { alert = t", "name t"),
            ("push.send { headers = { a", nil), ("push.install(\"id\", { t", "key push.install t after one"),
            ("phone:wait_for { w", "key phone:wait_for w"), ("f({ 1, 2 }, { k", "key f k after one"),
            ("push.send { to = 'x' } pu", "name pu"),
            ("push.send { payload = { a = 1 }, t", "key push.send t without payload"), ("print { push.", "member push. "),
            ("for i = 1, n", "name n"), ("{ x", nil),
        ] as [(String, String?)])
    func `the text before the cursor decides what is completed`(text: String, wanted: String?) {
        let shown: String? = CompletionContext([text]).flatMap { context in
            switch context {
            case .name(let typed): typed.isEmpty ? nil : "name \(typed)"
            case .member(let path, let isMethod, let typed): "member \(path.joined(separator: "."))\(isMethod ? ":" : ".") \(typed)"
            case .key(let callee, let given, let typed):
                "key \(callee.path.joined(separator: callee.isMethod ? ":" : ".")) \(typed)"
                    + (given.isEmpty ? "" : " without \(given.sorted().joined())") + (callee.hasLeading ? " after one" : "")
            }
        }
        if wanted == nil, text.contains("{") {
            // A table outside of a call: any name.
            #expect(shown?.hasPrefix("name") == true)
        } else {
            #expect(shown == wanted)
        }
    }

    @Test func `earlier lines count while their construct is open`() {
        #expect(CompletionContext(["push.send {", "  to = 'x',", "  al"]) != nil)
        #expect(CompletionContext(["x = [[", "push."]) == nil)
        #expect(CompletionContext(["x = [[", "]] .. push."]) == .member(path: ["push"], isMethod: false, typed: ""))
    }

    @Test func `names are completed from the session, its handles and its tables`() async throws {
        let prompt = try await Prompt()
        await prompt.type("phone = push.device { name = 'p' } mine = { alpha = 1, beta = { gamma = 2 } } text = 'x'")
        await prompt.type("task = push.spawn(function() end) broken = setmetatable({}, { __index = error, __pairs = error })")
        func names(_ text: String) async -> [String]? {
            await LineCompleter(flow: prompt.flow, registry: .standard).completion(of: [text])?.names
        }
        #expect(await names("pus") == ["push"])
        #expect(await names("pho") == ["phone"])
        #expect(await names("whi") == ["while"])
        #expect(await names("push.sen") == ["push.send".replacing("push.", with: "")])
        #expect(await names("push.tag.") == ["all", "any", "device", "explain", "match", "none", "user"])
        #expect(await names("mine.") == ["alpha", "beta"])
        #expect(await names("mine.beta.g") == ["gamma"])
        #expect(await names("phone:off") == ["offline"])
        #expect(await names("phone.off") == [])
        #expect(await names("task:") == ["await", "cancel"])
        #expect(await names("text:up") == ["upper"])
        #expect(await names("string.up") == ["upper"])
        #expect(await names("push.send { to = 'x', ale") == ["alert = "])
        #expect(await names("phone:wait_for { wi") == ["within = "])
        #expect(await names("unknown.x") == [])
        #expect(await names("broken.x") == [])
        #expect(await names("broken.a.b") == [])
        await prompt.type("class = { grow = 1 } class.__index = class thing = setmetatable({ size = 1 }, class)")
        #expect(await names("thing:") == ["grow", "size"])
        await prompt.type("odd = { ['end'] = 1, ['é'] = 1, ['a b'] = 1, fine = 1 } lots = {} for i = 1, 1e5 do lots['n' .. i] = i end")
        #expect(await names("odd.") == ["fine"])
        #expect(await names("lots.n").map(\.count) == 1000)
        #expect(await names("lots.n99999") == ["n99999"])
        #expect(await names("io") == [])
        #expect(await names("dofi") == [])
        #expect(await names("os.") == ["clock", "date", "difftime", "time"])
        // A metamethod that waits or computes forever is not called.
        await prompt.type("slow = setmetatable({}, { __index = function() while true do push.sleep '1s' end end })")
        #expect(await names("slow.x.y") == [])
        #expect(Completion(typed: "o", names: ["offline", "offset"]).common == "off")
        // Completion does not advance the clock and prints nothing.
        #expect(await prompt.type("push.clock.now()") == "1767603600")
        #expect(prompt.told == [])
    }
}

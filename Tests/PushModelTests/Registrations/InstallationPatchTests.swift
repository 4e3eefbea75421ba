import PushModel
import Support
import Testing

@Suite struct InstallationPatchTests {
    private var installation: Installation {
        get throws {
            Installation(
                id: "pad", userID: "alice", handle: .phone(1), tags: [try Tag("Sports"), try Tag("News")],
                pushVariables: ["name": "Alice"],
                templates: ["news": InstallationTemplate(body: "{}", expiry: "0", tags: [try Tag("a"), try Tag("b")])])
        }
    }

    private func patched(_ operations: PatchOperation...) throws -> Installation {
        var installation = try installation
        try installation.apply(operations)
        return installation
    }

    private func tags(_ operation: PatchOperation) throws -> [String] {
        try patched(operation).tags.map(\.text)
    }

    @Test("Tags are added once, replaced as a whole, and removed by name") func tags() throws {
        #expect(try tags(.init(.add, "/tags", "World")) == ["Sports", "News", "World"])
        #expect(try tags(.init(.add, "/tags", "sports")) == ["Sports", "News"])
        #expect(try tags(.init(.add, "/tags", ["World", "News"])) == ["Sports", "News", "World"])
        #expect(try tags(.init(.add, "/tags", #"["World","Arts"]"#)) == ["Sports", "News", "World", "Arts"])
        #expect(try tags(.init(.add, "/tags/-", "World")) == ["Sports", "News", "World"])
        for value in [nil, .null, "", "World", ["World"]] as [JSON?] {
            #expect(try tags(.init(.add, "/tags/World", value)) == ["Sports", "News", "World"])
        }
        #expect(try tags(.init(.replace, "/tags", ["World"])) == ["World"])
        #expect(try tags(.init(.replace, "/tags/sports", "Arts")) == ["Arts", "News"])
        #expect(try tags(.init(.remove, "/tags/sports")) == ["News"])
        #expect(try tags(.init(.remove, "/tags")) == [])
    }

    @Test("A number in a path is an index to insert at, or the tag itself") func indices() async throws {
        #expect(try tags(.init(.add, "/tags/0", "idx")) == ["idx", "Sports", "News"])
        #expect(try tags(.init(.add, "/tags/1", ["a", "news", "b"])) == ["Sports", "a", "b", "News"])
        #expect(try tags(.init(.add, "/tags/2", "end")) == ["Sports", "News", "end"])
        // The last path segment is the tag, as in Azure's clients.
        #expect(try tags(.init(.add, "/tags/42")) == ["Sports", "News", "42"])
        #expect(try tags(.init(.add, "/tags/0", "0")) == ["Sports", "News", "0"])
        let (zero, one) = (PatchOperation(.add, "/tags", "0"), PatchOperation(.add, "/tags", "-"))
        #expect(try patched(zero, .init(.replace, "/tags/0", "x")).tags.map(\.text) == ["Sports", "News", "x"])
        #expect(try patched(zero, one, .init(.remove, "/tags/0"), .init(.remove, "/tags/-")).tags.map(\.text) == ["Sports", "News"])
        #expect(try patched(.init(.add, "/templates/news/tags/0", "c")).templates["news"]?.tags?.map(\.text) == ["c", "a", "b"])
        // A repeated log-out, with a user's number as the tag.
        #expect(try tags(.init(.remove, "/tags/4711")) == ["Sports", "News"])
        for (operation, why) in [
            (.init(.add, "/tags/3", "x"), "the index 3 is out of range: the list has 2 tags"),
            (.init(.add, "/tags/99999999999999999999", "x"), "the index 9223372036854775807 is out of range: the list has 2 tags"),
            (.init(.add, "/tags/World", "Arts"), "the value is not the tag of the path"),
            (.init(.add, "/tags/01", "x"), "the value is not the tag of the path"),
            (.init(.add, "/tags/World", ["World", "Arts"]), "the value is not the tag of the path"),
            (.init(.add, "/tags/a b", "x"), "the value is not the tag of the path"),
            (.init(.replace, "/tags/0", "x"), #"the list has no tag "0"; write the tag itself, not its index"#),
            (.init(.replace, "/tags/7", "x"), #"the list has no tag "7"; write the tag itself, not its index"#),
            (.init(.replace, "/tags/-", "x"), #"the list has no tag "-"; write the tag itself, not its index"#),
            (.init(.remove, "/tags/1"), #"the list has no tag "1"; write the tag itself, not its index"#),
            (.init(.remove, "/tags/-"), #"the list has no tag "-"; write the tag itself, not its index"#),
            (.init(.remove, "/templates/news/tags/0"), #"the list has no tag "0"; write the tag itself, not its index"#),
            (.init(.add, "/templates/news/tags/9", "x"), "the index 9 is out of range: the list has 2 tags"),
        ] as [(PatchOperation, String)] {
            let error = await refusal { try patched(operation) }
            #expect(error?.code == "installation.patch" && error?.status == 400)
            #expect(error?.message == "\(operation.kind.rawValue) \(operation.path): \(why)")
        }
    }

    @Test("Plain members are set and removed") func members() throws {
        #expect(try patched(.init(.replace, "/userId", "bob")).userID == "bob")
        #expect(try patched(.init(.remove, "/userId")).userID == nil)
        let time = try patched(.init(.add, "/expirationTime", "2026-02-01T00:00:00Z")).expiration
        #expect(time == Timestamp(iso8601: "2026-02-01"))
        #expect(
            try patched(.init(.add, "/pushVariables/city", "Boston")).pushVariables == [
                "name": "Alice", "city": "Boston",
            ])
        #expect(try patched(.init(.add, "/pushVariables/age", 7)).pushVariables["age"] == "7")
        #expect(try patched(.init(.remove, "/pushVariables/name")).pushVariables.isEmpty)
        #expect(try patched(.init(.replace, "/pushVariables", ["a": "1"])).pushVariables == ["a": "1"])
        #expect(try patched(.init(.add, "/pushVariables/a~1b~0c", "x")).pushVariables["a/b~c"] == "x")
    }

    @Test("A template is added from JSON or from text with JSON") func templates() throws {
        let json: JSON = ["body": "{\"a\":1}", "headers": ["apns-priority": "5"], "expiry": "0", "tags": ["t"]]
        for value in [json, .string(json.text())] {
            let template = try #require(try patched(.init(.add, "/templates/new", value)).templates["new"])
            #expect(template.body == "{\"a\":1}")
            #expect(template.headers == [PushHeader("apns-priority", "5")])
            #expect(template.expiry == "0")
            #expect(template.tags?.map(\.text) == ["t"])
        }
        #expect(try patched(.init(.remove, "/templates/news")).templates.isEmpty)
        let sparse = try patched(
            .init(.add, "/templates/n", ["body": "{}", "tags": .null, "headers": .null, "expiry": .null]))
        #expect(sparse.templates["n"] == InstallationTemplate(body: "{}"))
    }

    @Test("The members of a template change one by one") func templateMembers() throws {
        func template(_ kind: PatchOperation.Kind, _ member: String, _ value: JSON? = nil) throws
            -> InstallationTemplate?
        {
            try patched(.init(kind, "/templates/news/\(member)", value)).templates["news"]
        }
        #expect(try template(.replace, "body", "{\"b\":2}")?.body == "{\"b\":2}")
        #expect(try template(.replace, "expiry", "$(e)")?.expiry == "$(e)")
        #expect(try template(.remove, "expiry")?.expiry == nil)
        #expect(try template(.add, "headers", #"{"apns-priority":"5"}"#)?.headers == [PushHeader("apns-priority", "5")])
        #expect(try template(.remove, "headers")?.headers == [])
        #expect(try template(.add, "tags", "c")?.tags?.map(\.text) == ["a", "b", "c"])
        #expect(try template(.replace, "tags", ["c"])?.tags?.map(\.text) == ["c"])
        #expect(try template(.replace, "tags/a", "c")?.tags?.map(\.text) == ["c", "b"])
        #expect(try template(.remove, "tags/b")?.tags?.map(\.text) == ["a"])
        #expect(try template(.remove, "tags")?.tags == [])
    }

    @Test("A new channel is not expired, and the same channel still is") func channel() throws {
        var expired = try installation
        expired.isPushChannelExpired = true
        var same = expired
        try same.apply([.init(.replace, "/pushChannel", .string(expired.handle.text.lowercased()))])
        #expect(same.isPushChannelExpired)
        try expired.apply([.init(.replace, "/pushChannel", .string(DeviceHandle.phone(2).text))])
        #expect(expired.handle == .phone(2) && !expired.isPushChannelExpired)
    }

    @Test("A tile is added, changed in its parts, and removed") func tiles() throws {
        let channel = DeviceHandle.wns(channel: "https://db.example/1")
        var installation = Installation(id: "pc", handle: .wns(channel: "https://db.example/0"))
        func apply(_ kind: PatchOperation.Kind, _ path: String, _ value: JSON? = nil) throws {
            try installation.apply([.init(kind, "/secondaryTiles/" + path, value)])
        }
        let json: JSON = ["pushChannel": "https://db.example/1", "tags": ["a", "A"], "templates": ["t": ["body": "<toast/>"]]]
        for value in [json, .string(json.text())] {
            try apply(.add, "tile", value)
            let tile = SecondaryTile(
                handle: channel, tags: [try Tag("a")], templates: ["t": InstallationTemplate(body: "<toast/>")])
            #expect(installation.secondaryTiles == ["tile": tile])
        }
        installation.secondaryTiles["tile"]?.isPushChannelExpired = true
        try apply(.replace, "tile/pushChannel", "https://db.example/2")
        #expect(installation.secondaryTiles["tile"]?.handle == .wns(channel: "https://db.example/2"))
        #expect(installation.secondaryTiles["tile"]?.isPushChannelExpired == false)
        try apply(.add, "tile/tags", "b")
        try apply(.remove, "tile/tags/a")
        #expect(installation.secondaryTiles["tile"]?.tags == [try Tag("b")])
        try apply(.replace, "tile/templates/t/body", "<tile/>")
        try apply(.add, "tile/templates/u", #"{"body":"<badge/>"}"#)
        try apply(.add, "tile/templates/u/tags/c")
        try apply(.remove, "tile/templates/t")
        #expect(
            installation.secondaryTiles["tile"]?.templates == ["u": InstallationTemplate(body: "<badge/>", tags: [try Tag("c")])])
        #expect(throws: PushError.self) { try apply(.add, "tile", ["tags": ["a"]]) }
        #expect(throws: PushError.self) { try apply(.add, "other/tags", "a") }
        #expect(throws: PushError.self) { try apply(.remove, "tile/pushChannel") }
        #expect(throws: PushError.self) { try apply(.add, "tile/colour", "a") }
        try apply(.remove, "tile")
        #expect(installation.secondaryTiles.isEmpty)
        for _ in 1...2 { try apply(.remove, "tile") }
        try apply(.remove, "tile/tags/a")
        #expect(installation.secondaryTiles.isEmpty)
        try installation.apply([
            .init(.add, "/secondaryTiles", ["a": json]), .init(.add, "/SecondaryTiles", .string(JSON.object(["b": json]).text())),
        ])
        #expect(installation.secondaryTiles.keys.sorted() == ["a", "b"])
        try installation.apply([.init(.replace, "/secondaryTiles", ["c": json])])
        #expect(installation.secondaryTiles.keys.sorted() == ["c"])
        try installation.apply([.init(.remove, "/secondaryTiles")])
        #expect(installation.secondaryTiles.isEmpty)
    }

    @Test("A repeated log-out succeeds: removing an absent member changes nothing, and replacing one adds it")
    func absent() throws {
        let before = try installation
        for path in ["/tags/Arts", "/tags/a b", "/templates/x", "/templates/x/body", "/templates/news/tags/c", "/pushVariables/city"] {
            #expect(try patched(.init(.remove, path)) == before, "\(path)")
        }
        #expect(try patched(.init(.replace, "/tags/Arts", "World")).tags.map(\.text) == ["Sports", "News", "World"])
        for value in [nil, .null, ""] as [JSON?] { #expect(try patched(.init(.replace, "/userId", value)).userID == nil) }
        #expect(try patched(.init(.replace, "/templates/news/expiry", .null)).templates["news"]?.expiry == nil)
        let time = PatchOperation(.add, "/ExpirationTime", "2026-02-01T00:00:00Z")
        #expect(try patched(time, .init(.replace, "/expirationTime", .null)).expiration == nil)
    }

    @Test("All templates can be replaced or removed at once, and the first part of a path is case-insensitive")
    func templateMap() throws {
        let new: JSON = ["x": ["body": "{}"], "news": ["body": "[]"], "none": .null]
        for value in [new, .string(new.text())] {
            let both = try patched(.init(.add, "/templates/old", ["body": "{}"]), .init(.add, "/Templates", value)).templates
            #expect(both.mapValues(\.body) == ["old": "{}", "x": "{}", "news": "[]"])
        }
        #expect(try patched(.init(.replace, "/templates", ["x": ["body": "{}"]])).templates == ["x": InstallationTemplate(body: "{}")])
        #expect(try patched(.init(.remove, "/TEMPLATES")).templates.isEmpty)
        #expect(try patched(.init(.replace, "/USERID", "Bob"), .init(.add, "/Tags", "X")).userID == "Bob")
        #expect(try patched(.init(.add, "/PushVariables/Name", #"1e3"#)).pushVariables == ["name": "Alice", "Name": "1e3"])
    }

    @Test("A template's name among its tags is accepted, because clients send back what they read")
    func ownName() async throws {
        let tagged: JSON = ["body": "{}", "tags": ["My template", "News"]]
        let templates = try patched(
            .init(.add, "/templates/My template", tagged), .init(.replace, "/templates/My template/tags", #"["My template","World"]"#)
        ).templates
        #expect(templates["My template"]?.tags?.map(\.text) == ["World"])
        #expect(await refusal { try patched(.init(.add, "/templates/other", tagged)) }?.code == "tag.invalid")
    }

    @Test("A browser's channel is changed with its subscription") func browser() throws {
        guard case .browser(_, let p256dh, let auth) = DeviceHandle.subscription else { return }
        let json: JSON = ["endpoint": "https://push.example/2", "p256dh": .string(p256dh), "auth": .string(auth)]
        for value in [json, .string(json.text())] {
            var installation = Installation(id: "web", handle: .subscription)
            try installation.apply([.init(.replace, "/pushChannel", value)])
            #expect(installation.handle.text == "https://push.example/2")
        }
    }

    @Test(
        "An invalid operation is named with the reason",
        arguments: [
            (PatchOperation(.add, "tags", "x"), "add tags: the path must begin with /"),
            (PatchOperation(.add, "/colour", "x"), "add /colour: no such path"),
            (PatchOperation(.add, "/templates//body", "x"), "add /templates//body: no such path"),
            (PatchOperation(.add, "/templates/news/tags/a/b", "x"), "add /templates/news/tags/a/b: no such path"),
            (PatchOperation(.add, "/tags"), "add /tags: the value is missing"),
            (PatchOperation(.replace, "/userId", 7), "replace /userId: the value must be a string"),
            (PatchOperation(.add, "/tags", [1]), "add /tags: tags must be strings"),
            (PatchOperation(.add, "/tags", 1), "add /tags: tags must be a string or an array of strings"),
            (PatchOperation(.replace, "/tags/Arts"), "replace /tags/Arts: the value is missing"),
            (PatchOperation(.add, "/templates", "x"), "add /templates: the value must be an object"),
            (PatchOperation(.remove, "/pushChannel"), "remove /pushChannel: an installation always has a channel"),
            (
                PatchOperation(.add, "/expirationTime", "soon"),
                "add /expirationTime: the value must be an ISO 8601 time"
            ),
            (PatchOperation(.add, "/templates/x/body", "{}"), "add /templates/x/body: there is no such template"),
            (PatchOperation(.add, "/templates/x", "{}"), "add /templates/x: a template is an object with a body"),
            (
                PatchOperation(.remove, "/templates/news/body"),
                "remove /templates/news/body: a template always has a body"
            ),
            (
                PatchOperation(.add, "/templates/news/expiry", 5),
                "add /templates/news/expiry: the value must be a string"
            ),
            (
                PatchOperation(.add, "/templates/news/headers", "x"),
                "add /templates/news/headers: headers must be an object"
            ),
            (
                PatchOperation(.add, "/templates/news/colour", "x"),
                "add /templates/news/colour: a template has body, headers, expiry and tags"
            ),
            (PatchOperation(.add, "/pushVariables", "x"), "add /pushVariables: the value must be an object"),
        ])
    func refused(operation: PatchOperation, message: String) async {
        let error = await refusal { try patched(operation) }
        #expect(error?.code == "installation.patch")
        #expect(error?.message == message)
        #expect(error?.status == 400)
    }

    @Test("The body of a template can be JSON instead of text") func bodyAsJSON() throws {
        for (value, text) in [
            (["aps": ["alert": "$(m)", "badge": 1]], #"{"aps":{"alert":"$(m)","badge":1}}"#), ([1], "[1]"),
        ] as [(JSON, String)] {
            #expect(try patched(.init(.replace, "/templates/news/body", value)).templates["news"]?.body == text)
            #expect(try patched(.init(.add, "/templates/new", ["body": value])).templates["new"]?.body == text)
        }
    }

    @Test("The first operation that exceeds a limit fails the patch, even if a later one would remove the excess")
    func tooMuch() async throws {
        let many = JSON.array((0..<33_000).map { .string("t\($0)") })
        let places = ["/tags", "/tags/-", "/tags/Sports", "/templates/news/tags", "/templates/news/tags/a"]
        for (path, kind) in places.flatMap({ [($0, PatchOperation.Kind.add), ($0, .replace)] }) {
            guard kind == .replace ? !path.hasSuffix("-") : !path.hasSuffix("Sports") && !path.hasSuffix("/a") else { continue }
            // The next operation is invalid, but is never reached.
            let error = await refusal { try patched(.init(kind, path, many), .init(.add, "/colour", "x")) }
            #expect(error?.code == "tag.too_many", "\(kind) \(path)")
        }
        func templates(_ numbers: Range<Int>) -> JSON {
            .object(JSONObject(numbers.map { ("t\($0)", ["body": "{}"]) }))
        }
        #expect(try patched(.init(.add, "/templates", templates(0..<99))).templates.count == 100)
        for value in [templates(0..<100), templates(0..<4800)] {
            let error = await refusal { try patched(.init(.add, "/templates", value), .init(.remove, "/templates")) }
            #expect(error?.code == "installation.invalid" && error?.message.hasSuffix("the limit is 100") == true)
        }
        let one = await refusal {
            try patched(.init(.add, "/templates", templates(0..<99)), .init(.add, "/templates/x", ["body": "{}"]))
        }
        #expect(one?.message == "the installation has 101 templates; the limit is 100")
    }

    @Test("Tags of a changed template or tile are checked against its new content") func rewritten() throws {
        let replacement: JSON = ["body": "{}", "tags": ["c"]]
        for step in [PatchOperation(.add, "/templates/news", replacement), .init(.add, "/Templates", ["news": replacement])] {
            let tags = try patched(.init(.add, "/templates/news/tags", "d"), step, .init(.add, "/templates/news/tags", ["d", "c", "a"]))
                .templates["news"]?.tags
            #expect(tags?.map(\.text) == ["c", "d", "a"])
        }
        let tags = try patched(
            .init(.add, "/tags/x"), .init(.remove, "/Tags"), .init(.add, "/tags/x"), .init(.replace, "/tags", ["y"]),
            .init(.add, "/TAGS/-", ["x", "y"]), .init(.remove, "/tags/y"), .init(.add, "/tags", "Y")
        ).tags
        #expect(tags.map(\.text) == ["x", "Y"])
    }

    @Test("A time after the last date means never") func never() throws {
        let late = PatchOperation(.add, "/expirationTime", "9999-12-31T23:59:59-12:00")
        #expect(try patched(late).expiration == nil)
    }

    @Test("Invalid tags and handles are rejected with their own error codes") func values() async {
        #expect(await refusal { try patched(.init(.add, "/tags", "a b")) }?.code == "tag.invalid")
        #expect(await refusal { try patched(.init(.replace, "/pushChannel", "xyz")) }?.code == "handle.invalid")
    }

    @Test("Either all operations apply or none") func atomic() async throws {
        var installation = try installation
        let before = installation
        let error = await refusal {
            try installation.apply([
                .init(.add, "/tags", "World"), .init(.replace, "/userId", "bob"), .init(.remove, "/pushChannel"),
            ])
        }
        #expect(error?.code == "installation.patch")
        #expect(installation == before)
    }
}

import PushHub
import PushModel
import Support
import Testing

@Suite struct InstallationListTests {
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench(registrationTTL: .seconds(3600)) }

    private func put(
        _ id: String, _ handle: DeviceHandle = .phone(1), user: String? = nil, tags: [String] = [],
        templateTags: [String]? = nil
    ) async throws {
        var installation = Installation(id: id, userID: user, handle: handle, tags: try tags.map { try Tag($0) })
        if let templateTags {
            installation.templates = [
                "news": InstallationTemplate(body: "{}", tags: try templateTags.map { try Tag($0) })
            ]
        }
        try await hub.putInstallation(installation)
    }

    private func ids(_ filter: InstallationFilter, top: Int = 100) async throws -> [String] {
        var ids: [String] = []
        var page = Page(top: top)
        repeat {
            let answer = try await hub.installations(filter, page: page)
            ids += answer.installations.map(\.id)
            page.continuation = answer.continuation
        } while page.continuation != nil
        return ids
    }

    @Test func `Installations are listed by user, tag and platform, with their expiry`() async throws {
        try await put("pad", .phone(1), user: "alice", tags: ["Sports"])
        try await put("phone", .gcm(token: "t"), user: "Alice", templateTags: [])
        try await put("tv", .phone(2), user: "bob", templateTags: ["Weather"])
        try await bench.register(.phone(9), tags: ["Sports", "username:alice"])
        #expect(try await ids(.all) == ["pad", "phone", "tv"])
        #expect(try await ids(.user("ALICE")) == ["pad", "phone"])
        #expect(try await ids(.tag(Tag("sports"))) == ["pad"])
        #expect(try await ids(.tag(Tag("news"))) == ["phone"])
        #expect(try await ids(.tag(Tag("weather"))) == ["tv"])
        #expect(try await ids(.tag(Tag.installation("tv"))) == ["tv"])
        #expect(try await ids(.platform(.apns)) == ["pad", "tv"])
        #expect(try await ids(.platform(.wns)) == [])
        let listed = try await hub.installations(.user("bob"), page: Page()).installations
        #expect(listed == [try await hub.installation("tv")])
        #expect(listed.first?.expiration == HubBench.startTime + .seconds(3600))
    }

    @Test func `An installation is not listed under its former properties`() async throws {
        try await put("pad", .phone(1), user: "alice", tags: ["a", "b"], templateTags: ["t"])
        try await put("pad", .gcm(token: "t"), user: "bob", tags: ["b", "c"])
        for filter: InstallationFilter in [
            .user("alice"), .tag(try Tag("a")), .tag(try Tag("t")), .platform(.apns),
        ] {
            #expect(try await ids(filter) == [])
        }
        for filter: InstallationFilter in [.all, .user("bob"), .tag(try Tag("b")), .tag(try Tag("c")), .platform(.gcm)] {
            #expect(try await ids(filter) == ["pad"])
        }
        try await hub.deleteInstallation("pad")
        for filter: InstallationFilter in [.all, .user("bob"), .tag(try Tag("b")), .platform(.gcm)] {
            #expect(try await ids(filter) == [])
        }
    }

    @Test func `An installation with an invalid token is listed and says so`() async throws {
        bench.connector.script(.phone(1), .rejected(.invalidHandle()))
        try await put("pad", user: "alice", tags: ["a"])
        _ = try await bench.send(to: "a")
        for filter: InstallationFilter in [.all, .user("alice"), .tag(try Tag("a")), .platform(.apns)] {
            let found = try await hub.installations(filter, page: Page()).installations
            #expect(found.map(\.isPushChannelExpired) == [true])
        }
    }

    @Test func `An expired installation is not listed`() async throws {
        try await put("pad", tags: ["a"])
        bench.advance(by: .seconds(1800))
        try await put("tv", tags: ["a"])
        bench.advance(by: .seconds(1800))
        #expect(try await ids(.all) == ["tv"])
        #expect(try await ids(.tag(Tag("a"))) == ["tv"])
    }

    @Test func `A list has pages of at most a hundred, and the last page has no token`() async throws {
        for number in 0..<250 { try await put("i\(number)", .phone(number), user: "alice", tags: ["a"]) }
        for filter: InstallationFilter in [.all, .user("alice"), .tag(try Tag("a")), .platform(.apns)] {
            for top in [0, 101, -1] { #expect(try await hub.installations(filter, page: Page(top: top)).installations.count == 100) }
            #expect(try await ids(filter, top: 99) == (0..<250).map { "i\($0)" })
            let last = try await hub.installations(filter, page: Page(top: 50, continuation: "199"))
            #expect(last.installations.count == 50 && last.continuation == nil)
        }
    }

    @Test func `Paging during changes returns each installation that remains exactly once`() async throws {
        for filter: InstallationFilter in [.all, .user("alice"), .tag(try Tag("a")), .platform(.apns)] {
            let bench = try HubBench()
            func put(_ id: String, _ handle: Int) async throws {
                try await bench.hub.putInstallation(
                    Installation(id: id, userID: "alice", handle: .phone(handle), tags: [try Tag("a")]))
            }
            var staying: [String] = []
            var leaving: [String] = []
            for number in 0..<60 {
                try await put("i\(number)", number)
                if number % 3 == 0 { leaving.append("i\(number)") } else { staying.append("i\(number)") }
            }
            var seen: [String] = []
            var page = Page(top: 7)
            repeat {
                let answer = try await bench.hub.installations(filter, page: page)
                seen += answer.installations.map(\.id)
                page.continuation = answer.continuation
                if let id = leaving.popLast() { try await bench.hub.deleteInstallation(id) }
                try await put("new\(seen.count)", 1000 + seen.count)
                try await put(staying[seen.count % staying.count], 2000 + seen.count)
            } while page.continuation != nil
            #expect(staying.allSatisfy { id in seen.count { $0 == id } == 1 })
        }
    }

    @Test(arguments: ["x", "-1", "", "4294967296"]) func `An invalid continuation token is rejected`(token: String) async {
        let error = await refusal { try await hub.installations(.all, page: Page(continuation: token)) }
        #expect(error?.code == "hub.continuation" && error?.status == 400)
    }

    @Test func `A token beyond the end returns an empty page`() async throws {
        try await put("pad", tags: ["a"])
        for filter: InstallationFilter in [.all, .tag(try Tag("a"))] {
            for token in ["0", "7", "4294967295"] {
                let answer = try await hub.installations(filter, page: Page(continuation: token))
                #expect(answer == InstallationPage(installations: [], continuation: nil))
            }
        }
    }

    @Test(arguments: ["", "a b", "x}"]) func `An invalid user is rejected`(user: String) async {
        let error = await refusal { try await hub.installations(.user(user), page: Page()) }
        #expect(error?.code == "tag.invalid" && error?.status == 400)
    }

    @Test func `Lists of twenty thousand installations can be paged`() async throws {
        for number in 0..<20_000 { try await put("i\(number)", .phone(number), user: "u\(number % 2)", tags: ["a"]) }
        #expect(try await ids(.all).count == 20_000)
        #expect(try await ids(.tag(Tag("a"))).count == 20_000)
        #expect(try await ids(.user("u1")) == stride(from: 1, to: 20_000, by: 2).map { "i\($0)" })
    }
}

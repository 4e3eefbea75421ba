import PushCore
import Support
import Testing

@Suite struct TagListTests {
    @Test("Tags that differ only in case are one, spelled as the first") func unique() throws {
        let tags = try [Tag("Sports"), Tag("news"), Tag("sports")].checked()
        #expect(tags.map(\.text) == ["Sports", "news"])
    }

    @Test("Azure's sixty tags are no limit here, a thousand is") func count() async throws {
        let many = try (1...1000).map { try Tag("t\($0)") }
        #expect(try many.checked().count == 1000)
        let error = await refusal { try (many + [Tag("one-more")]).checked() }
        #expect(error?.code == "tag.too_many")
        #expect(error?.message == "1001 tags on one registration; the limit is 1,000")
    }

    @Test("A registration has at most one tag of each form that the hub gives out") func reserved() async throws {
        let one = try [Tag("$InstallationId:{a}"), Tag("$UserId:{b}"), Tag("$installationid:{A}")]
        #expect(try one.checked().count == 2)
        let error = await refusal { try [Tag("$UserId:{a}"), Tag("x"), Tag("$userid:{b}")].checked() }
        #expect(error?.code == "tag.reserved")
        #expect(error?.message.hasPrefix("\"$UserId:{a}\" and \"$userid:{b}\" on one registration") == true)
    }
}

import Support
import Testing

@testable import PushModel

@Suite struct TagListTests {
    @Test("Tags that differ only in case are one, spelled as the first") func unique() throws {
        let tags = try [Tag("Sports"), Tag("news"), Tag("sports")].checked()
        #expect(tags.map(\.text) == ["Sports", "news"])
    }

    @Test("The limit is a thousand tags, not Azure's sixty") func count() async throws {
        let many = try (1...1000).map { try Tag("t\($0)") }
        #expect(try many.checked().count == 1000)
        let error = await refusal { try (many + [Tag("one-more")]).checked() }
        #expect(error?.code == "tag.too_many")
        #expect(error?.message == "1001 tags on one registration; the limit is 1,000")
    }

    @Test(
        "A client cannot give a device a tag that starts with $",
        arguments: [
            "$InstallationId:{victim-1}", "$installationid:{VICTIM-1}", "$UserId:{bob}", "$USERID:{bob}", "$UserId:{e\u{301}}",
            "$UserId:{\u{e9}}", "$InstallationId:{a=b.c:d}",
        ]) func reserved(text: String) async throws
    {
        let tag = try Tag(text)
        for tags in [[tag], [try Tag("x"), tag], [tag, tag]] {
            let error = await refusal { try tags.checked() }
            #expect(error?.code == "tag.reserved" && error?.status == 400)
            #expect(error?.message == "tags cannot start with $: \"\(text)\"")
            #expect(error?.details["tag"] == .string(text))
        }
        #expect(await refusal { try Tag(ofDevice: text) }?.code == "tag.reserved")
        // The hub adds these tags itself, and they count towards the limit.
        #expect(try [Tag("x")].adding(ofHub: [tag, tag]).map(\.text) == ["x", text])
        let many = try (1...1000).map { try Tag("t\($0)") }
        #expect(await refusal { try many.adding(ofHub: [tag]) }?.code == "tag.too_many")
        #expect(try [Tag("x"), tag, Tag("y")].withoutReserved.map(\.text) == ["x", "y"])
    }

    @Test(
        "Text that starts with $ is rejected as reserved, even if it is not a valid tag",
        arguments: ["$", "$foo", "$InstallationId", "$InstallationId:{", "$\u{301}UserId:{a}", "$UserId :{a}", "$$UserId:{a}", "$body"])
    func malformed(text: String) async throws {
        for work in [{ try [PushModel.Tag](["x", text]) }, { [try Tag(ofDevice: text)] }] as [() throws -> [PushModel.Tag]] {
            let error = await refusal { try work() }
            #expect(error?.code == "tag.reserved" && error?.message == "tags cannot start with $: \"\(text)\"")
        }
    }

    @Test(
        "Whitespace and characters that look like $ are rejected too",
        arguments: [" $UserId:{a}", "\u{FF04}UserId:{a}", "\u{FE69}x", "\u{200B}$x"])
    func lookalikes(text: String) async {
        #expect(await refusal { try Tag(ofDevice: text) }?.code == "tag.invalid")
        #expect(await refusal { try [PushModel.Tag]([text]) }?.code == "tag.invalid")
    }

    @Test("A template's own name among its tags is dropped if it is reserved") func templateName() throws {
        let name = "$UserId:{bob}"
        #expect(try [PushModel.Tag]([name, "a"], ofTemplate: name).map(\.text) == ["a"])
        #expect(try [PushModel.Tag]([name, "a"], ofTemplate: "other").map(\.text) == [name, "a"])
    }
}

import PushModel
import Testing

@Suite struct TagTests {
    @Test(arguments: [
        "a", "follows_RedSox", "username:alice", "a@b.c", "#1", "-._:@#", "日本", "e\u{301}", "٣",
        "$InstallationId:{a-1}",
        "$userid:{a=b}", String(repeating: "x", count: 120),
    ])
    func `Tags keep their spelling`(_ text: String) throws {
        #expect(try Tag(text).text == text)
        #expect(Tag(validating: text)?.description == text)
    }

    @Test(arguments: [
        ("", 1, "The tag is empty."),
        ("red sox", 4, "A tag cannot contain a space."),
        ("é,b", 2, "\",\" cannot be part of a tag."),
        ("a\0", 2, "U+0000 cannot be part of a tag."),
        ("a=b", 2, "\"=\" cannot be part of a tag."),
        ("😀", 1, "\"😀\" cannot be part of a tag."),
        ("{a}", 1, "\"{\" cannot be part of a tag."),
        ("a$b", 2, "\"$\" cannot be part of a tag."),
        (String(repeating: "x", count: 121), 1, "The tag has 121 characters; 120 are allowed."),
        ("$", 1, "Only $InstallationId:{…} and $UserId:{…} start with \"$\"."),
        ("$UserIdd:{a}", 1, "Only $InstallationId:{…} and $UserId:{…} start with \"$\"."),
        ("$UserId", 8, "\":\" is missing after \"$UserId\"."),
        ("$UserId:a", 9, "\"{\" is missing after \"$UserId:\"."),
        ("$UserId:{a", 11, "The closing \"}\" is missing."),
        ("$UserId:{}", 10, "There is nothing between the braces."),
        ("$UserId:{a b}", 11, "A tag cannot contain a space."),
        ("$UserId:{a}b", 12, "\"b\" cannot be part of a tag."),
    ])
    func `An invalid tag is rejected with the position of the error`(_ text: String, _ position: Int, _ message: String) throws {
        let error = try #require(throws: TagError.self) { try Tag(text) }
        #expect(error.message == message)
        #expect(error.position == position)
        #expect(error.text == text)
        #expect(Tag(validating: text) == nil)
    }

    @Test func `A misspelt reserved tag gets a hint`() throws {
        let error = try #require(throws: TagError.self) { try Tag("$UserIdd:{a}") }
        #expect(error.hint == "Did you mean \"$UserId:{…}\"?")
        #expect(error.description.contains("character 1"))
    }

    @Test func `Tags are equal in any letter case`() throws {
        #expect(try Tag("RedSox") == Tag("redsox"))
        #expect(try Set([Tag("Ä"), Tag("ä"), Tag("a")]).count == 2)
        #expect(try Tag("$InstallationId:{A}") == .installation("a"))
    }

    @Test func `Letters of any script are compared without regard to case and Unicode composition`() throws {
        #expect(try Tag("Café") == Tag("Cafe\u{301}") && Tag("CAFÉ") == Tag("cafe\u{301}"))
        #expect(try Tag("Café") != Tag("Cafe"))
        #expect(try Set([Tag("Größe"), Tag("GRÖSSE")]).count == 2)
        #expect(try Tag("Cafe\u{301}").text.unicodeScalars.count == 5)
    }

    @Test func `The hub's own tags have their reserved forms`() throws {
        #expect(try Tag.username("alice").text == "username:alice")
        #expect(try Tag.installation("1-2").text == "$InstallationId:{1-2}")
        #expect(try Tag.user("a=").text == "$UserId:{a=}")
        #expect(throws: TagError.self) { try Tag.username("a b") }
        #expect(throws: TagError.self) { try Tag.user("a}b") }
    }
}

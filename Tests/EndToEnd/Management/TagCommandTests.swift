import HostSupport
import PushModel
import Testing

/// `pushhost tags`.
@Suite struct TagCommandTests {
    @Test func `Two expressions are compared without a server, and the exit code gives the result`() async throws {
        let same = try await BuiltProgram.run(["tags", "prove", "!(a || b)", "!a && !B"])
        #expect(same.status == 0 && same.output == "✓ equivalent: both match the same registrations in every hub\n", "\(same.errors)")
        let other = try await BuiltProgram.run(["tags", "prove", "a && b", "a && !muted"])
        #expect(other.status == 1)
        #expect(
            other.output == """
                ✗ different for a registration with the tag "a"
                  first   no match    a && b
                  second  matches     a && !muted

                """, "\(other.output)")
        let nothing = try await BuiltProgram.run(["tags", "prove", "!a", "a", "--json"])
        #expect(nothing.status == 1)
        let document = try JSON(parsing: nothing.output)
        #expect(document["result"] == ["equal": false, "example": ["tags": [], "takenBy": "first"]])
        #expect(document["exit_code"] == 1)
        let wrong = try await BuiltProgram.run(["tags", "prove", "a", "b &&"])
        #expect(wrong.status == 2)
        #expect(
            wrong.errors.contains("error[tag_expression.invalid]: invalid second tag expression at character 5: a tag is missing"),
            "\(wrong.errors)")
        #expect(try await BuiltProgram.run(["tags", "prove", "a"]).status == 2)
    }

    @Test func `The parts of an expression are counted in a hub, and tags can still be listed`() async throws {
        try await ServedHub.serving { hub in
            for number in 1...3 {
                let body =
                    #"{"installationId": "i\#(number)", "platform": "apns", "pushChannel": "\#(String(repeating: "0\(number)", count: 32))", "#
                    + #""tags": ["sports"\#(number == 1 ? #", "muted""# : "")]}"#
                #expect(try await hub.call("PUT", "/hub/installations/i\(number)?api-version=2020-06", body: body).status == 200)
            }
            let explained = try await hub.command(["tags", "explain", "sport && !muted || sports"])
            #expect(
                explained.output == """
                    REGISTRATIONS  PART
                                3  sport && !muted || sports
                                0    sport && !muted
                                0      sport   did you mean "sports"? It has 3
                                2      !muted
                                1        muted
                                3    sports
                    of 3 registrations in the hub

                    """, "\(explained.output)\(explained.errors)")
            let json = try await hub.command(["tags", "explain", "a", "--json"])
            #expect(try JSON(parsing: json.output)["result"]?["matched"] == 0)
            let refused = try await hub.command(["tags", "explain", "a &&"])
            #expect(refused.status == 4 && refused.errors.contains("error[tag_expression.invalid]"), "\(refused.errors)")
            for arguments in [["tags", "sp"], ["tags", "list", "sp"]] {
                #expect(try await hub.command(arguments).output == "TAG     REGISTRATIONS\nsports              3\n")
            }
            #expect(try await hub.command(["tags"]).output.contains("muted"))
        }
    }
}

import Testing

@testable import PushHost

@Suite struct ProgramArgumentsTests {
    @Test func `the arguments are those of this process`() {
        #expect(ProgramArguments.current == Array(CommandLine.arguments.dropFirst()))
    }

    @Test(
        arguments: [
            ("", []), ("pushhost\u{0}", ["pushhost"]),
            ("pushhost\u{0}send\u{0}\u{0}--to\u{0}a b\u{0}", ["pushhost", "send", "", "--to", "a b"]),
            ("pushhost\u{0}\u{0}", ["pushhost", ""]), ("pushhost\u{0}cut", ["pushhost", "cut"]), ("p\u{0}Grüße\u{0}", ["p", "Grüße"]),
        ] as [(String, [String])])
    func `each argument ends with a zero byte and may be empty`(text: String, arguments: [String]) {
        #expect(ProgramArguments.split(Array(text.utf8)) == arguments)
    }

    @Test func `an invalid UTF-8 argument does not affect the others`() {
        #expect(ProgramArguments.split([0x61, 0, 0xFF, 0, 0x62, 0]) == ["a", "\u{fffd}", "b"])
    }
}

import Testing

@testable import PushHost

@Suite struct ReplLinesTests {
    @Test func `every typed line is counted, and a chunk begins after the previous one`() {
        var lines = ReplLines()
        lines.skip(".help")
        lines.append("for i = 1, 2 do")
        #expect(lines.isContinued)
        #expect((lines.first, lines.next) == (2, 3))
        lines.append("end")
        #expect(lines.chunk == ["for i = 1, 2 do", "end"])
        lines.close()
        #expect((lines.first, lines.next, lines.isContinued) == (4, 4, false))
        lines.append("f(")
        lines.skip("")
        #expect((lines.chunk, lines.next) == ([], 6))
        #expect(String(decoding: lines.source, as: UTF8.self) == ".help\nfor i = 1, 2 do\nend\nf(\n")
    }
}

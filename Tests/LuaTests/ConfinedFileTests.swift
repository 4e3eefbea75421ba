import Testing

@testable import Lua

@Suite struct ConfinedFileTests {
    @Test func `a folder contains what is below it, and not its neighbour or itself`() {
        #expect(ConfinedFile.isPath("/a/b/c.lua", below: "/a/b"))
        #expect(ConfinedFile.isPath("/c.lua", below: "/"))
        #expect(!ConfinedFile.isPath("/a/bc.lua", below: "/a/b"))
        #expect(!ConfinedFile.isPath("/a/b", below: "/a/b"))
    }
}

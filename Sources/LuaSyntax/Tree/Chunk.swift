/// A script as a tree, with what its names stand for.
package struct Chunk: Sendable {
    package let text: SourceText
    package let block: Block
    package let scopes: Scopes
    /// Where the comments stand, with their dashes.
    package let comments: [Range<Int>]

    /// Reads a script. Throws exactly where Lua 5.4 refuses to compile it.
    package init(parsing source: [UInt8]) throws(SyntaxError) {
        text = SourceText(source)
        var parser = try Parser(text)
        block = try parser.chunk()
        comments = parser.comments
        scopes = try Scopes(of: block)
    }
}

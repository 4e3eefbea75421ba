/// The syntax tree of a script, with its resolved names.
package struct Chunk: Sendable {
    package let text: SourceText
    package let block: Block
    package let scopes: Scopes
    /// Ranges of the comments, including the dashes.
    package let comments: [Range<Int>]

    /// Parses a script. Throws exactly when Lua 5.4 does not compile it.
    package init(parsing source: [UInt8]) throws(SyntaxError) {
        text = SourceText(source)
        var parser = try Parser(text)
        block = try parser.chunk()
        comments = parser.comments
        scopes = try Scopes(of: block)
    }
}

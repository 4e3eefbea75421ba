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
        let tokens = try TokenStream(text)
        block = try StatementParser(tokens: tokens, nesting: Nesting(text)).chunk()
        comments = tokens.comments
        scopes = try Scopes(of: block)
    }
}

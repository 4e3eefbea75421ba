/// Options for compiling templates.
package struct TemplateOptions: Sendable, Hashable {
    /// Whether to accept values that Azure rejects. Azure treats a value as an expression only as a whole, and rejects one that merely
    /// starts like an expression, such as the color `#000000`. In lenient mode, `$(name)` is also replaced inside longer text, and a
    /// leading `#`, `.`, `%` or `$` without a parenthesis is text.
    package var lenient: Bool

    package init(lenient: Bool = false) { self.lenient = lenient }
}

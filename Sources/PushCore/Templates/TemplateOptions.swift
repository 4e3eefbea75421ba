/// How a hub reads its templates.
package struct TemplateOptions: Sendable, Hashable {
    /// Azure reads a value as an expression only when it is one as a whole, and refuses a value that merely starts like
    /// one, such as the colour `#000000`. Leniently, `$(name)` is replaced inside longer text too, and a leading
    /// `#`, `.`, `%` or `$` without a parenthesis is text.
    package var lenient: Bool

    package init(lenient: Bool = false) { self.lenient = lenient }
}

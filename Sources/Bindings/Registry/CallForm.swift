package import Lua

/// The form of a binding's calls: the style, the parameters, and which of them may be combined.
package struct CallForm: Sendable {
    package var style: Style
    package var parameters: [Parameter]
    /// Checks which keys may be combined.
    package var constraint: Constraint?
    /// Whether a script returns the table instead of passing it, as hooks do.
    package var isReturned = false

    /// The error of an invalid call. Swift 6.3 does not count `throws(LuaError)` of a function type as a use of `package import Lua`.
    package typealias Failure = LuaError
    /// Throws an error if a call with exactly these keys is invalid. `name` is the name of the called binding.
    package typealias Constraint = @Sendable (_ keys: Set<String>, _ name: String) throws(Failure) -> Void

    package enum Style: Sendable {
        /// One table with named keys.
        case table
        /// Values in parameter order.
        case positional
        /// The first parameter as a value, then one table with the others.
        case leading
        /// A value to read, not a function.
        case value
    }

    package static func table(_ parameters: [Parameter], constraint: Constraint? = nil) -> CallForm {
        CallForm(style: .table, parameters: parameters, constraint: constraint)
    }

    /// One table with named keys that a script returns.
    package static func returned(_ parameters: [Parameter], constraint: Constraint? = nil) -> CallForm {
        CallForm(style: .table, parameters: parameters, constraint: constraint, isReturned: true)
    }

    package static func positional(_ parameters: [Parameter], constraint: Constraint? = nil) -> CallForm {
        CallForm(style: .positional, parameters: parameters, constraint: constraint)
    }

    package static func leading(_ parameters: [Parameter], constraint: Constraint? = nil) -> CallForm {
        CallForm(style: .leading, parameters: parameters, constraint: constraint)
    }

    package static let value = CallForm(style: .value, parameters: [])
}

import Bindings
public import Lua

/// A function written in Swift that scripts call: `push.geo.distance { from = …, to = … }`.
///
/// It is described like PushHost's own functions. Its arguments are validated before the call, and `pushhost explain`, `pushhost check`,
/// completion and editors use the description. A script plugin needs the capability `native:SPACE` to call it.
public protocol NativeBinding: Sendable {
    /// A namespace of your own and a name: `geo.distance`. Lower-case letters, digits and `_`.
    var name: String { get }
    /// A summary of one sentence.
    var summary: String { get }
    /// The parameters, passed in one table. If exactly one is required, its value can be passed without a table.
    var parameters: [NativeParameter] { get }
    /// The result type in editor notation, such as `number` or `string[]`; nil if it returns nothing.
    var returns: String? { get }
    /// Codes of the errors that it throws, such as `geo.no_place`.
    var errors: [String] { get }
    /// An example call, in Lua.
    var example: String { get }

    /// Executes a call. Other calls proceed while it waits; it must not block its thread.
    ///
    /// - Throws: The script's error: a `LuaError` unchanged, any other error as `host.error`.
    func call(_ arguments: NativeArguments) async throws -> LuaValue
}

extension NativeBinding {
    public var parameters: [NativeParameter] { [] }
    public var returns: String? { nil }
    public var errors: [String] { [] }
}

extension NativeBinding {
    var binding: Binding {
        .native(name, summary, parameters: parameters.map(\.parameter), returns: returns, errors: errors, example: example) { values in
            try await call(NativeArguments(values))
        }
    }
}

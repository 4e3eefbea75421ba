import Bindings
public import Lua
import PushModel

/// The environment in which a plugin is created.
public struct NativeSetup: Sendable {
    /// The validated settings by name, with defaults. A duration is a number of seconds.
    public let settings: NativeArguments
    private let base: NativePluginSetup

    init(_ base: NativePluginSetup) {
        self.base = base
        settings = NativeArguments(base.settings.fields)
    }

    /// Makes a setup, to test a plugin. The settings are not validated.
    ///
    /// - Parameter now: Milliseconds since 1970. The clock does not advance.
    public init(settings: [String: LuaValue] = [:], now: Int64 = 0, log: @escaping @Sendable (String) -> Void = { _ in }) {
        self.init(
            NativePluginSetup(
                settings: LuaTable(fields: settings), log: { log($1) }, clock: VirtualClock(now: Timestamp(milliseconds: now))))
    }

    /// The value of a setting of the type ``NativeSetting/secret(_:_:)``. Never log it.
    public func secret(_ name: String) -> String? {
        guard case .object(let object)? = settings[name], let secret = object.payload as? Secret else { return nil }
        return secret.reveal()
    }

    /// Writes a line to the server's log, with the plugin's name.
    public func log(_ text: String) { base.log(.info, text) }

    /// Writes a warning that an operator should act on.
    public func warn(_ text: String) { base.log(.warn, text) }

    /// The hub's time in milliseconds since 1970. In a rehearsal it is virtual.
    public var now: Int64 { base.clock.now.milliseconds }
}

/// A setting of a plugin.
public struct NativeSetting: Sendable {
    let field: ConfigSchema.Field

    private init(_ name: String, _ type: ConfigSchema.FieldType, _ value: JSON?, _ summary: String) {
        field = ConfigSchema.Field(name: name, type: type, defaultValue: value, isRequired: value == nil, summary: summary)
    }

    /// A string; required if it has no default.
    public static func string(_ name: String, default value: String? = nil, choices: [String] = [], _ summary: String) -> NativeSetting {
        NativeSetting(name, .string(choices: choices), value.map(JSON.string), summary)
    }

    /// An integer; required if it has no default.
    public static func integer(
        _ name: String, default value: Int? = nil, in range: ClosedRange<Int>? = nil, _ summary: String
    ) -> NativeSetting {
        let bounds = ConfigSchema.Bounds(minimum: range.map { Double($0.lowerBound) }, maximum: range.map { Double($0.upperBound) })
        return NativeSetting(name, .integer(bounds), value.map { .integer(Int64($0)) }, summary)
    }

    /// A number; required if it has no default.
    public static func number(
        _ name: String, default value: Double? = nil, in range: ClosedRange<Double>? = nil, _ summary: String
    ) -> NativeSetting {
        let bounds = ConfigSchema.Bounds(minimum: range?.lowerBound, maximum: range?.upperBound)
        return NativeSetting(name, .number(bounds), value.map { .number($0) }, summary)
    }

    /// `true` or `false`; required if it has no default.
    public static func boolean(_ name: String, default value: Bool? = nil, _ summary: String) -> NativeSetting {
        NativeSetting(name, .boolean, value.map { .bool($0) }, summary)
    }

    /// A duration such as `90s` or `1h30m`. The plugin receives seconds.
    public static func duration(_ name: String, default value: String? = nil, _ summary: String) -> NativeSetting {
        NativeSetting(name, .duration, value.map(JSON.string), summary)
    }

    /// A list of strings.
    public static func strings(_ name: String, default value: [String]? = nil, _ summary: String) -> NativeSetting {
        NativeSetting(name, .list(.string(choices: [])), value.map { .array($0.map(JSON.string)) }, summary)
    }

    /// The name of a stored secret; ``NativeSetup/secret(_:)`` returns its value.
    public static func secret(_ name: String, _ summary: String) -> NativeSetting { NativeSetting(name, .secret, nil, summary) }
}

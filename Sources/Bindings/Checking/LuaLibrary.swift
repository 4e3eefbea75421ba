/// The globals of a sandboxed script, and the members of its libraries. A test compares them with the sandbox.
package enum LuaLibrary {
    package static let functions: Set<String> = [
        "_VERSION", "assert", "collectgarbage", "error", "getmetatable", "ipairs", "load", "next", "pairs", "pcall", "print", "rawequal",
        "rawget", "rawlen", "rawset", "require", "select", "setmetatable", "tonumber", "tostring", "type", "xpcall",
    ]

    package static let libraries: [String: Set<String>] = [
        "string": [
            "byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "pack", "packsize", "rep", "reverse", "sub",
            "unpack", "upper",
        ],
        "table": ["concat", "insert", "move", "pack", "remove", "sort", "unpack"],
        "math": [
            "abs", "acos", "asin", "atan", "ceil", "cos", "deg", "exp", "floor", "fmod", "huge", "log", "max", "maxinteger", "min",
            "mininteger", "modf", "pi", "rad", "random", "randomseed", "sin", "sqrt", "tan", "tointeger", "type", "ult",
        ],
        "utf8": ["char", "charpattern", "codepoint", "codes", "len", "offset"],
        "coroutine": ["close", "create", "isyieldable", "resume", "running", "status", "wrap", "yield"],
        "os": ["clock", "date", "difftime", "time"],
        "io": [], "debug": [], "package": [],
    ]

    /// Functions of `math` that exist only if Lua was built with compatibility for older versions, as in Debian.
    package static let olderMath: Set<String> = ["atan2", "cosh", "frexp", "ldexp", "log10", "pow", "sinh", "tanh"]

    /// Libraries that the sandbox reduces to the listed functions. Other functions of stock Lua are absent.
    static let strict: Set<String> = ["os", "io", "debug", "package"]

    /// Names from other languages and older versions of Lua, with their replacements.
    static let foreign: [String: String] = foreignNil.reduce(into: [
        "NaN": "write 0/0",
        "unpack": "write table.unpack", "loadstring": "write load", "arg": "declare options with push.args", "this": "write self",
        "bit32": "Lua has the operators &, |, ~, << and >>", "console": "write print(…)", "printf": "write print(string.format(…))",
        "sleep": "write push.sleep \"1s\"", "setTimeout": "write push.spawn(function() push.sleep \"1s\" … end)",
        "log": "write push.log(…)",
        "self": "self exists only in functions that are declared with a colon",
    ]) { $0[$1] = "write nil" }

    /// The names that other languages have for nil.
    static let foreignNil: Set<String> = ["null", "None", "undefined", "NULL"]
}

/// Settings for luacheck: the globals of a flow, so that what the sandbox lacks and mistyped names are reported.
///
/// The module itself is a local variable that luacheck does not look into: a wrong `push.name` is an error of the run.
package enum LuacheckProfile {
    package static var text: String {
        let absent = (Array(HostFunctions.absent.keys) + neverThere).sorted().map { "  \"\($0)\"," }
        return """
            -- How luacheck reads flows. Written by pushhost from what a flow may use: do not edit.
            -- pushhost reference luacheck > .luacheckrc writes it anew.
            std = "lua54"
            max_line_length = false

            -- Part of Lua, but out of reach of a flow.
            not_globals = {
            \(absent.joined(separator: "\n"))
            }

            -- Definitions for editors have no bodies, so their parameters are never used.
            exclude_files = { "types" }

            """
    }

    /// Globals of Lua 5.4 that the sandbox has no word for.
    private static let neverThere = ["warn"]
}

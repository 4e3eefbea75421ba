import Lua

// Other functions that the guide shows.

let joined = LuaFunction("text.joined") { (parts: [String], separator: String?) in parts.joined(separator: separator ?? ", ") }

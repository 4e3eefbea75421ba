import Lua

// What the guide shows beside the program.

let joined = LuaFunction("text.joined") { (parts: [String], separator: String?) in parts.joined(separator: separator ?? ", ") }

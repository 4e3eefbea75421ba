import Lua

let thread = LuaThread(name: "scripts")
let state = try LuaState(thread: thread, limits: LuaLimits(memory: 8 << 20, cpu: .milliseconds(100)))
let price = LuaFunction("shop.price") { (item: String) async throws in
    guard item != "dragon" else {
        throw LuaError(kind: .failure, code: "shop.unknown", message: "the shop has no such thing")
    }
    try await Task.sleep(for: .milliseconds(1))  // a database, a service
    return item.count
}
try await state.define(LuaModule(name: "shop", functions: [price]))

let scripts = [
    LuaScript(name: "total.lua", source: "local shop = require 'shop' return shop.price 'tea' + shop.price 'bread'"),
    LuaScript(name: "wrong.lua", source: "return require('shop').price 'dragon'"),
    LuaScript(name: "endless.lua", source: "while true do pcall(error) end"),
]
for (number, script) in scripts.enumerated() {
    do {
        let results = try await state.run(script, id: LuaRunID(rawValue: number))
        if case .integer(let total)? = results.first { print("\(script.name): \(total)") }
    } catch let error as LuaError {
        print(error)
    }
}

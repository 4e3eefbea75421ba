import CLua
import Testing

@testable import Lua

/// The blocks of memory that a state keeps for reuse.
struct AllocatorTests {
    @Test func `blocks of every size keep their content while others are allocated and freed`() async throws {
        let bench = try await Bench()
        let wrong = try await bench.run(
            """
            local kept, wrong = {}, 0
            local function text(i) return ("%d:"):format(i) .. ("x"):rep(i % 300) end
            local function list(i) local t = {} for k = 1, i % 40 do t[k] = i + k end return t end
            for round = 1, 3 do
                for i = 1, 3000 do
                    if (i * 7 + round) % 3 == 0 then kept[i] = nil else kept[i] = { text(i), list(i), { i = i } } end
                end
                for i, entry in pairs(kept) do
                    if entry[1] ~= text(i) or entry[3].i ~= i or #entry[2] ~= i % 40 then wrong = wrong + 1 end
                    for k = 1, #entry[2] do if entry[2][k] ~= i + k then wrong = wrong + 1 end end
                end
            end
            return wrong
            """)
        #expect(wrong == [.integer(0)])
    }

    @Test func `memory of sizes that are no longer used is released`() async throws {
        let bench = try await Bench()
        _ = try await bench.run(
            """
            for size = 1, 240, 8 do
                local texts = {}
                for i = 1, 2000 do texts[i] = ("%d%s"):format(i, ("x"):rep(size)) end
            end
            """)
        let (used, freeCapacity) = await bench.state.inspect { machine in
            machine.collect()
            return (machine.context.pointee.used, machine.context.pointee.free_capacity)
        }
        #expect(used < 100_000)
        // In units of eight bytes: the limit, plus what is in the slab.
        #expect(freeCapacity * 8 >= -13 * 1024)
    }
}

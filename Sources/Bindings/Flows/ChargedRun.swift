package import Lua
import PushModel

extension RunAccount: WorkAccount {
    package func threadTime() -> Int { Self.threadTime() }

    package func charge(cpuTime: Int) { note(.cpu, cpuTime) }

    package func note(memory: Int) { note(.memory, memory) }

    package func release(memory: Int) { release(.memory, memory) }
}

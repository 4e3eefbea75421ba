package import Lua
import PushModel

extension RunAccount: WorkAccount {
    package func threadTime() -> Int { Self.threadTime() }

    package func charge(cpuTime: Int) { note(.cpu, cpuTime) }
}

import Lua

extension FlowRun {
    /// Charges the memory that a call makes the host store: a fixed part, the texts of its arguments, and a fixed part for each text in a
    /// list or table.
    func store(_ bytes: Int, _ arguments: Arguments) throws(LuaError) {
        guard world.memory != nil else { return }
        try account.charge(.memory, bytes + 2 * arguments.byteCount + HostCost.storedText * arguments.innerTextCount)
    }
}

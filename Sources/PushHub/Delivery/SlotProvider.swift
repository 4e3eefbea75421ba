/// The actor that has the slots at push services, as deliveries reach it from their tasks.
protocol SlotProvider: Actor {
    /// Acquires a slot. Returns `false` if none is free; otherwise the caller must release it.
    func acquireSlot(_ service: PushService) -> Bool
    func releaseSlot(_ service: PushService)
    /// Waits for a slot. Returns `false` if the task was cancelled; otherwise the caller must release the slot.
    func waitForSlot(_ service: PushService) async -> Bool
}

/// The actor that owns the deliveries, as they reach it from their tasks.
protocol DeliveryHost: SlotProvider, HookedRegistrations {
    func record(_ completed: [CompletedTarget], in session: inout DeliverySession) async
    func recipients(at rows: [UInt32], of group: RecipientGroup) -> [Recipient]
}

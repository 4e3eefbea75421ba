import PushModel

/// Hooks that skip, defer or reject devices at random, after random delays.
struct RandomHooks: HubHooks {
    let world: SimulatedWorld

    func hasHook(_ phase: HookPhase) -> Bool { phase == .beforeDeliver || phase == .onOutcome }

    func beforeDeliver(_ group: any HookedGroup) async throws(PushError) {
        for _ in 0..<world.number(0...3) { await Task.yield() }
        let devices = await group.devices(after: nil, limit: world.number(1...40)).filter { _ in world.chance(30) }
        var rulings = [DeliveryRuling(devices: .chosen(devices.map(\.number)), decision: decision, reason: "chosen")]
        if world.chance(40), let tag = Tag(validating: "b") {
            rulings.append(DeliveryRuling(devices: .tagged(tag), decision: decision, reason: "b"))
        }
        if world.chance(15) { rulings.append(DeliveryRuling(devices: .all, decision: decision, reason: "all")) }
        world.history.ruled(zip(rulings, await group.rule(rulings)).map { ($0.decision, $1) })
        if world.chance(5) { throw PushError("plugin.failed", "it went wrong") }
    }

    private var decision: DeliveryRuling.Decision {
        world.chance(60) ? .hold(until: world.clock.now + .seconds(world.number(-10...5000))) : .skip
    }

    func onOutcome(_ ended: EndedNotification) { world.history.told(ended.outcome) }

    func beforeSend(_ draft: SendDraft) -> SendDraft { draft }
    func afterSend(_ sent: SentNotification) {}
    func onRegister(_ draft: RegistrationDraft) -> RegistrationDraft { draft }
    func onLogin(_ login: LoginDraft) {}
    func onSecureFetch(_ fetch: SecureFetch) {}
}

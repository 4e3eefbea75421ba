import Lua
import PushCore
import Synchronization

/// Calls the timers of the live plugins: one alarm, for the next of them.
///
/// A moment that comes while the call before is still under way, and one that has passed while nobody looked, is left out.
actor PluginTimers {
    private weak var host: PluginHost?
    private let clock: any HubClock
    private let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    private var alarm: Task<Void, Never>?
    private var generation = 0
    /// Timers whose call is under way.
    private var busy: Set<Key> = []

    private struct Key: Hashable {
        var plugin: String
        /// From 1.
        var number: Int
    }

    init(host: PluginHost) {
        self.host = host
        clock = host.services.world.clock
        start = host.services.start
    }

    /// Looks at what is live now.
    func rearm() {
        alarm?.cancel()
        alarm = nil
        generation += 1
        let (now, generation) = (clock.now, generation)
        var due: [(key: Key, moment: Timestamp)] = []
        for instance in host?.live.compactMap(\.plugin.script) ?? [] {
            for (place, timer) in instance.manifest.timers.enumerated() {
                guard let rules = instance.zones[timer.timeZone], let moment = timer.schedule.next(after: now, in: rules) else {
                    continue
                }
                due.append((Key(plugin: instance.name, number: place + 1), moment))
            }
        }
        guard let next = due.map(\.moment).min() else { return }
        let keys = due.filter { $0.moment == next }.map(\.key)
        alarm = start { [weak self, clock] in
            guard (try? await clock.sleep(until: next)) != nil else { return }
            await self?.ring(keys, generation)
        }
    }

    func stop() {
        alarm?.cancel()
        alarm = nil
        generation += 1
    }

    private func ring(_ keys: [Key], _ generation: Int) {
        guard generation == self.generation, let host else { return }
        for key in keys {
            guard let live = host.live.first(where: { $0.plugin.name == key.plugin }), let instance = live.plugin.script,
                instance.manifest.timers.indices.contains(key.number - 1)
            else { continue }
            guard busy.insert(key).inserted else {
                host.tell(live, .warn, "every[\(key.number)] is left out: the call before is still under way")
                continue
            }
            _ = start { [weak self] in
                do throws(LuaError) {
                    _ = try await host.call(
                        live, instance, instance.manifest.timers[key.number - 1].work, .timer, hub: nil, origin: [], [])
                } catch {
                    host.failed(live, .timer, error)
                }
                await self?.ended(key)
            }
        }
        rearm()
    }

    private func ended(_ key: Key) { busy.remove(key) }
}

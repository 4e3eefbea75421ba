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

    /// Up to when moments have rung.
    private var heard: Timestamp?
    /// Timers that were looked at before; of others no moment has been missed.
    private var known: Set<Key> = []

    /// How far back a moment may be that came while nobody could hear it.
    private static let grace = Duration.seconds(60)

    private struct Key: Hashable {
        var plugin: String
        /// From 1.
        var number: Int
    }

    private struct Due: Sendable {
        var key: Key
        var instance: PluginInstance
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
        // What came while others were being loaded has not rung yet; time that was set forward rings for little of it.
        let unheard = min(max(heard ?? now, Timestamp(milliseconds: now.milliseconds - Self.grace.milliseconds)), now)
        if heard == nil { heard = now }
        var due: [(timer: Due, moment: Timestamp)] = []
        var known: Set<Key> = []
        for instance in host?.live.compactMap(\.plugin.script) ?? [] {
            for (place, timer) in instance.manifest.timers.enumerated() {
                let key = Key(plugin: instance.name, number: place + 1)
                known.insert(key)
                guard let rules = instance.zones[timer.timeZone],
                    let moment = timer.schedule.next(after: self.known.contains(key) ? unheard : now, in: rules)
                else { continue }
                due.append((Due(key: key, instance: instance), moment))
            }
        }
        self.known = known
        guard let next = due.map(\.moment).min() else { return }
        let timers = due.filter { $0.moment == next }.map(\.timer)
        alarm = start { [weak self, clock] in
            guard (try? await clock.sleep(until: next)) != nil else { return }
            await self?.ring(timers, at: next, generation)
        }
    }

    func stop() {
        alarm?.cancel()
        alarm = nil
        generation += 1
    }

    private func ring(_ timers: [Due], at moment: Timestamp, _ generation: Int) {
        guard generation == self.generation, let host else { return }
        heard = moment
        for timer in timers {
            let key = timer.key
            // Another version may be live by now: its timer is meant where it rings then, too.
            guard let live = host.live.first(where: { $0.plugin.name == key.plugin }), let instance = live.plugin.script,
                instance === timer.instance || instance.rings(key.number, at: moment)
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

extension PluginInstance {
    /// - Parameter number: of a timer, from 1.
    fileprivate func rings(_ number: Int, at moment: Timestamp) -> Bool {
        guard manifest.timers.indices.contains(number - 1) else { return false }
        let timer = manifest.timers[number - 1]
        return zones[timer.timeZone].flatMap { timer.schedule.next(after: Timestamp(milliseconds: moment.milliseconds - 1), in: $0) }
            == moment
    }
}

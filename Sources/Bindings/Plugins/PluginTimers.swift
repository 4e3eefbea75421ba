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
    private var calls: [Key: Task<Void, Never>] = [:]

    /// Up to when moments have rung.
    private var heard: Timestamp?
    /// Timers that were looked at before; of others no moment has been missed.
    private var known: Set<Key> = []

    /// How far back a moment may be that came while nobody could hear it.
    private static let grace = Duration.seconds(60)

    /// What makes a timer the same from version to version, wherever it stands in the list.
    fileprivate struct Key: Hashable {
        var plugin: String
        var schedule: CronSchedule
        var timeZone: String
        /// Among those of one plugin that ring at the same moments.
        var place: Int
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
        var due: [(timer: Key, moment: Timestamp)] = []
        var known: Set<Key> = []
        for instance in host?.live.compactMap(\.plugin.script) ?? [] {
            for (key, timer) in zip(instance.timerKeys, instance.manifest.timers) {
                known.insert(key)
                guard let rules = instance.zones[timer.timeZone],
                    let moment = timer.schedule.next(after: self.known.contains(key) ? unheard : now, in: rules)
                else { continue }
                due.append((key, moment))
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

    /// Rings no more, and cancels the calls under way.
    func stop() {
        alarm?.cancel()
        alarm = nil
        generation += 1
        for call in calls.values { call.cancel() }
    }

    private func ring(_ timers: [Key], at moment: Timestamp, _ generation: Int) {
        guard generation == self.generation, let host else { return }
        heard = moment
        for timer in timers {
            // Another version may be live by now: its timer is meant where it rings then, too.
            guard let live = host.live.first(where: { $0.plugin.name == timer.plugin }), let instance = live.plugin.script,
                let place = instance.timerKeys.firstIndex(of: timer) ?? instance.timer(ringingAt: moment, insteadOf: timer)
            else { continue }
            let key = instance.timerKeys[place]
            guard busy.insert(key).inserted else {
                host.tell(live, .warn, "every[\(place + 1)] is left out: the call before is still under way")
                continue
            }
            calls[key] = start { [weak self] in
                do throws(LuaError) {
                    _ = try await host.call(
                        live, instance, instance.manifest.timers[place].work, .timer, hub: nil, origin: [], [])
                } catch {
                    if !Task.isCancelled { host.failed(live, .timer, error) }
                }
                await self?.ended(key)
            }
        }
        rearm()
    }

    private func ended(_ key: Key) {
        busy.remove(key)
        calls[key] = nil
    }
}

extension PluginInstance {
    /// The place of a timer of another schedule that rings at this moment, too.
    fileprivate func timer(ringingAt moment: Timestamp, insteadOf key: PluginTimers.Key) -> Int? {
        timerKeys.indices.first { place in
            let other = timerKeys[place]
            guard other.place == key.place else { return false }
            return zones[other.timeZone].flatMap { other.schedule.next(after: Timestamp(milliseconds: moment.milliseconds - 1), in: $0) }
                == moment
        }
    }

    /// Of its timers, in their order.
    fileprivate var timerKeys: [PluginTimers.Key] {
        var counts: [PluginTimers.Key: Int] = [:]
        return manifest.timers.map { timer in
            var key = PluginTimers.Key(plugin: name, schedule: timer.schedule, timeZone: timer.timeZone, place: 0)
            let count = counts[key, default: 0]
            counts[key] = count + 1
            key.place = count
            return key
        }
    }
}

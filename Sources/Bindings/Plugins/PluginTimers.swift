import Lua
import PushModel
import Synchronization

/// Calls the timers of live plugins with one alarm, set for the next due time.
///
/// A due time is skipped if the previous call is still in progress, or if it passed while timers were not running.
actor PluginTimers {
    private weak var host: PluginHost?
    private let clock: any HubClock
    private let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    private var alarm: Task<Void, Never>?
    private var generation = 0
    /// Timers whose call is in progress.
    private var busy: Set<Key> = []
    private var calls: [Key: Task<Void, Never>] = [:]

    /// The due time up to which timers have been called.
    private var handledUntil: Timestamp?
    /// Timers seen before. Only these can have missed a due time.
    private var known: Set<Key> = []

    /// Maximum age of a missed due time that is still called.
    private static let grace = Duration.seconds(60)

    /// Identifies a timer across versions, independent of its index in the list.
    fileprivate struct Key: Hashable {
        var plugin: String
        var schedule: CronSchedule
        var timeZone: String
        /// Distinguishes timers of one plugin that have the same schedule.
        var index: Int
    }

    init(host: PluginHost) {
        self.host = host
        clock = host.services.world.clock
        start = host.services.start
    }

    /// Sets the alarm for the timers that are live now.
    func rearm() {
        alarm?.cancel()
        alarm = nil
        generation += 1
        let (now, generation) = (clock.now, generation)
        // Includes due times that passed while plugins were loading. The grace period limits the effect of a clock set forward.
        let lastHandled = min(max(handledUntil ?? now, Timestamp(milliseconds: now.milliseconds - Self.grace.milliseconds)), now)
        if handledUntil == nil { handledUntil = now }
        var due: [(timer: Key, time: Timestamp)] = []
        var known: Set<Key> = []
        for instance in host?.live.compactMap(\.plugin.script) ?? [] {
            for (key, timer) in zip(instance.timerKeys, instance.manifest.timers) {
                known.insert(key)
                guard let rules = instance.zones[timer.timeZone],
                    let time = timer.schedule.next(after: self.known.contains(key) ? lastHandled : now, in: rules)
                else { continue }
                due.append((key, time))
            }
        }
        self.known = known
        guard let next = due.map(\.time).min() else { return }
        let timers = due.filter { $0.time == next }.map(\.timer)
        alarm = start { [weak self, clock] in
            guard (try? await clock.sleep(until: next)) != nil else { return }
            await self?.fire(timers, at: next, generation)
        }
    }

    /// Stops the timers and cancels calls in progress.
    func stop() {
        alarm?.cancel()
        alarm = nil
        generation += 1
        for call in calls.values { call.cancel() }
    }

    private func fire(_ timers: [Key], at time: Timestamp, _ generation: Int) {
        guard generation == self.generation, let host else { return }
        handledUntil = time
        for timer in timers {
            // Another version may be live by now. A timer of it that is due at the same time is called instead.
            guard let live = host.live.first(where: { $0.plugin.name == timer.plugin }), let instance = live.plugin.script,
                let index = instance.timerKeys.firstIndex(of: timer) ?? instance.timer(firingAt: time, insteadOf: timer)
            else { continue }
            let key = instance.timerKeys[index]
            guard busy.insert(key).inserted else {
                host.record(live, .warn, "every[\(index + 1)] was skipped: the previous call is still in progress")
                continue
            }
            calls[key] = start { [weak self] in
                do throws(LuaError) {
                    _ = try await host.call(
                        live, instance, instance.manifest.timers[index].work, .timer, hub: nil, origin: [], [])
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
    /// Index of a timer with another schedule that is due at the same time.
    fileprivate func timer(firingAt time: Timestamp, insteadOf key: PluginTimers.Key) -> Int? {
        timerKeys.indices.first { index in
            let other = timerKeys[index]
            guard other.index == key.index else { return false }
            return zones[other.timeZone].flatMap { other.schedule.next(after: Timestamp(milliseconds: time.milliseconds - 1), in: $0) }
                == time
        }
    }

    /// Keys of the timers in manifest order.
    fileprivate var timerKeys: [PluginTimers.Key] {
        var counts: [PluginTimers.Key: Int] = [:]
        return manifest.timers.map { timer in
            var key = PluginTimers.Key(plugin: name, schedule: timer.schedule, timeZone: timer.timeZone, index: 0)
            let count = counts[key, default: 0]
            counts[key] = count + 1
            key.index = count
            return key
        }
    }
}

import PushModel

/// The actor that owns a scheduler, as the scheduler reaches it from tasks.
protocol SendWorker: Actor {
    /// Returns what the notification has to wait for; nil when it is done.
    func perform(_ work: SendWork) async -> Delay?
    func performed(_ sequence: Int64, _ delay: Delay?)
    func scheduleAlarmFired(_ generation: Int)
    func scheduleAlarmStopped(_ generation: Int) async
    func deferralAlarmFired(_ time: Timestamp)
    func refillOutbox() async
}

import PushModel

/// Computes when the attempts of a run start, and until when devices are retried.
struct AttemptTimes: Sendable {
    let environment: HubEnvironment
    let retries: RetryPolicy

    /// When the first attempt starts: now, or at the retry time of a service that deferred devices in an earlier run.
    func first(of service: PushService, _ policy: SendPipeline.DispatchPolicy, in run: DeliveryRun) -> DeliveryRun.Start {
        // A service that shared a lane then may have its own now.
        let shared = service.origin == nil ? nil : policy.retryState?.services[.others]
        guard let wait = policy.retryState?.services[service] ?? shared else { return DeliveryRun.Start(time: environment.steady.now) }
        return DeliveryRun.Start(number: wait.number, time: wait.time, retryDeadline: retryDeadline(from: run.start, in: run))
    }

    /// The deadline of a device whose first attempt is at `first`.
    func retryDeadline(from first: Timestamp, in run: DeliveryRun) -> Timestamp {
        if run.isTest { return first }
        guard let expiration = run.options.expiration else { return first + retries.window }
        return min(first + retries.window, environment.steady.now + (expiration - environment.clock.now))
    }
}

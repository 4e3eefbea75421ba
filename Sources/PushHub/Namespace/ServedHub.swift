package import PushModel

/// A hub and its description.
package struct ServedHub: Sendable {
    package let record: HubRecord
    package let service: NotificationHub
    package let jobs: JobService

    func resume() async throws(PushError) {
        try await service.resume()
        try await jobs.resume()
    }

    func stop() async {
        await jobs.stop()
        await service.stop()
    }
}

/// A bulk job that exports registrations from a hub or imports them (Azure's `NotificationHubJob`).
package struct NotificationHubJob: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case exportRegistrations = "ExportRegistrations"
        case importCreateRegistrations = "ImportCreateRegistrations"
        case importUpdateRegistrations = "ImportUpdateRegistrations"
        case importDeleteRegistrations = "ImportDeleteRegistrations"
        case importUpsertRegistrations = "ImportUpsertRegistrations"
    }

    package enum Status: String, Sendable, CaseIterable {
        case started = "Started"
        case running = "Running"
        case completed = "Completed"
        case failed = "Failed"

        package var isFinal: Bool { self == .completed || self == .failed }
    }

    /// The progress of a job, and its results.
    package struct Progress: Sendable, Equatable {
        package var status: Status
        /// From 0 to 100.
        package var percent: Double
        package var failure: String?
        /// `OutputFilePath` and `FailedFilePath` of a job that has completed.
        package var outputProperties: [String: String]
        package var updatedAt: Timestamp

        package init(
            status: Status = .started, percent: Double = 0, failure: String? = nil, outputProperties: [String: String] = [:],
            updatedAt: Timestamp
        ) {
            self.status = status
            self.percent = percent
            self.failure = failure
            self.outputProperties = outputProperties
            self.updatedAt = updatedAt
        }

        /// Advances to a part from 0 to 1, never back. Only a completed job has 100 percent.
        package mutating func advance(to part: Double, at time: Timestamp) {
            percent = min(99.99, max(percent, part * 100))
            updatedAt = time
        }

        package mutating func complete(with outputProperties: [String: String], at time: Timestamp) {
            percent = 100
            self.outputProperties = outputProperties
            (status, updatedAt) = (.completed, time)
        }

        package mutating func fail(_ failure: String, at time: Timestamp) {
            self.failure = failure
            (status, updatedAt) = (.failed, time)
        }
    }

    package var id: String
    package var kind: Kind
    package var outputContainerURI: String
    /// The file that an import reads; nil for an export.
    package var importFileURI: String?
    package var inputProperties: [String: String]
    package var createdAt: Timestamp
    package var progress: Progress

    package init(
        id: String, kind: Kind, outputContainerURI: String, importFileURI: String? = nil, inputProperties: [String: String] = [:],
        createdAt: Timestamp, progress: Progress
    ) {
        self.id = id
        self.kind = kind
        self.outputContainerURI = outputContainerURI
        self.importFileURI = importFileURI
        self.inputProperties = inputProperties
        self.createdAt = createdAt
        self.progress = progress
    }

    package var status: Status { progress.status }
    package var failure: String? { progress.failure }
}

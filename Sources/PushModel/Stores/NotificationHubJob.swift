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

    package var id: String
    /// From 0 to 100.
    package var progress: Double
    package var kind: Kind
    package var status: Status
    package var outputContainerURI: String
    /// The file that an import reads; nil for an export.
    package var importFileURI: String?
    package var inputProperties: [String: String]
    package var failure: String?
    /// `OutputFilePath` and `FailedFilePath` of a job that has completed.
    package var outputProperties: [String: String]
    package var createdAt: Timestamp
    package var updatedAt: Timestamp

    package init(
        id: String, kind: Kind, outputContainerURI: String, importFileURI: String? = nil, inputProperties: [String: String] = [:],
        progress: Double = 0, status: Status = .started, failure: String? = nil, outputProperties: [String: String] = [:],
        createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.id = id
        self.progress = progress
        self.kind = kind
        self.status = status
        self.outputContainerURI = outputContainerURI
        self.importFileURI = importFileURI
        self.inputProperties = inputProperties
        self.failure = failure
        self.outputProperties = outputProperties
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

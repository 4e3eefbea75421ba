import HubWire
import PushCore

extension Page {
    /// The header of an answer that has a continuation; its value has only characters that are safe in a URL, since some clients
    /// paste it as it is and others encode it.
    package static let continuationHeader = "x-ms-continuationtoken"

    /// `$top`, from 1 to 100, and `continuationtoken`, both in any case. What is no such number means 100.
    package init(_ query: RequestQuery) {
        let top = query["$top"].flatMap { Int($0) } ?? 0
        self.init(
            top: top > 0 ? min(top, 100) : 100, continuation: query["continuationtoken"].flatMap(\.nonEmpty))
    }
}

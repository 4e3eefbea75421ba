import HubWire
import PushModel

extension Page {
    /// The response header for a continuation token. Its value contains only characters that are safe in URLs, because some clients do not
    /// encode it.
    package static let continuationHeader = "x-ms-continuationtoken"

    /// Reads `$top`, from 1 to 100, and `continuationtoken`, both case-insensitive. An invalid number means 100.
    package init(_ query: RequestQuery) {
        let top = query["$top"].flatMap { Int($0) } ?? 0
        self.init(
            top: top > 0 ? min(top, 100) : 100, continuation: query["continuationtoken"].flatMap(\.nonEmpty))
    }
}

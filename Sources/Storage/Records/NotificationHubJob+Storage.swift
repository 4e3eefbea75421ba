import PushModel

/// `{"output": "file:///jobs", "import": "file:///jobs/in", "properties": {…}, "failure": "…", "results": {…}}`: the properties without
/// columns of their own.
extension NotificationHubJob {
    var storedJSON: JSON {
        var object: JSONObject = ["output": .string(outputContainerURI)]
        if let importFileURI { object.append("import", .string(importFileURI)) }
        if !inputProperties.isEmpty { object.append("properties", JSON(inputProperties)) }
        if let failure { object.append("failure", .string(failure)) }
        if !outputProperties.isEmpty { object.append("results", JSON(outputProperties)) }
        return .object(object)
    }

    init(
        id: String, kind: String, status: String, progress: Int64, createdAt: Timestamp, updatedAt: Timestamp, stored json: JSON
    ) throws {
        self.init(
            id: id, kind: try Kind(stored: kind), outputContainerURI: try json.required("output").storedText(),
            importFileURI: try json["import"]?.storedText(), inputProperties: try json["properties"]?.storedTexts() ?? [:],
            progress: Double(progress) / 100, status: try Status(stored: status), failure: try json["failure"]?.storedText(),
            outputProperties: try json["results"]?.storedTexts() ?? [:], createdAt: createdAt, updatedAt: updatedAt)
    }
}

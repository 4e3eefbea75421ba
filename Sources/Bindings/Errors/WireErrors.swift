/// Error codes of requests that clients send to a hub.
enum WireErrors {
    static let all: [ErrorArea] = [xml, sas, registration, job, feedback]

    private static let xml = ErrorArea(
        "xml", "XML documents in requests",
        [
            ErrorDescription(
                "xml.invalid", .answer, means: "The document cannot be read.",
                when: "The body of a request is not well-formed, has a document type, nests elements deeper than 32 levels, has more than "
                    + "4,096 elements, or is an entry without a description. The message gives line and column. Status 400.",
                fix: "Correct the document at this position. Remove the document type."),
            ErrorDescription(
                "xml.too_large", .answer, means: "The XML document is too large.",
                when: "The body of the request exceeds the limit for its kind. Status 413.", fix: "Send less in one request."),
        ])

    private static let sas = ErrorArea(
        "sas", "shared access signatures of requests",
        [
            ErrorDescription(
                "sas.missing", .answer, means: "The request is not signed.",
                when: "It has no Authorization header. Status 401.", fix: "Sign it with the key of the connection string."),
            ErrorDescription(
                "sas.malformed", .answer, means: "The signature cannot be read.",
                when: "The Authorization header is not a SharedAccessSignature, or one of sr, sig, se and skn is missing or invalid. "
                    + "Status 401.",
                fix: "Write SharedAccessSignature sr=…&sig=…&se=…&skn=…, with URL-encoded values."),
            ErrorDescription(
                "sas.signature", .answer, means: "The signature does not match a key of the hub.",
                when: "There is no key with this name, or neither of its two values signed the token; or the key sent as a bearer token "
                    + "is unknown. Status 401.",
                fix: "Copy the connection string again. Name and value of the key must belong together."),
            ErrorDescription(
                "sas.expired", .answer, means: "The signature has expired.",
                when: "The time in se is more than five minutes in the past. Status 401.",
                fix: "Sign a new token. If the token is new, correct the clock of the client."),
            ErrorDescription(
                "sas.audience", .answer, means: "The signature is for another resource.",
                when: "The signed address has another host than the request, or a path that does not contain the requested one. Status "
                    + "401.",
                fix: "Sign the address of the hub."),
            ErrorDescription(
                "sas.forbidden", .answer, means: "The key does not have the required right.",
                when: "The request needs the right Send (status 403) or Manage (status 401), which the key lacks.",
                fix: "Use the connection string of a key with the required right."),
        ])

    private static let registration = ErrorArea(
        "registration", "registration documents in requests",
        [
            ErrorDescription(
                "registration.invalid", .answer, means: "The registration document is invalid.",
                when: "Its element is of an unknown kind, or lacks the handle or the template body. Status 400.",
                fix: "Add what the message names."),
            ErrorDescription(
                "registration.filter", .answer, means: "The filter of a list is invalid.",
                when: "$filter compares a field other than a handle, or uses a value that is not a handle. Status 400.",
                fix: "Write $filter=ChannelUri eq 'HANDLE', URL-encoded."),
        ])

    private static let job = ErrorArea(
        "job", "bulk jobs of a hub",
        [
            ErrorDescription(
                "job.invalid", .answer, means: "The description of the job is invalid.",
                when: "Its type is unknown, or it does not state where to read from or write to. Status 400.",
                fix: "Add what the message names."),
            ErrorDescription(
                "job.uri", .answer, means: "The address in the job is invalid.",
                when: "OutputContainerUri or ImportFileUri is not a file:, http: or https: address, or is a file: address with . or .. in "
                    + "its path, a query, or no name. Status 400.",
                fix: "Write file:///folder/file, or http://host/path."),
            ErrorDescription(
                "job.forbidden", .answer, means: "Jobs may not read or write at this location.",
                when: "The folder or host is not in the settings jobs.folders and jobs.hosts, or the server does not run jobs. Status 403.",
                fix: "Use a location from the hint, or ask the operator to add it."),
            ErrorDescription(
                "job.busy", .answer, means: "Too many jobs are queued.",
                when: "A hundred jobs of the hub have not started yet. Status 429.", fix: "Wait until some have ended."),
            ErrorDescription(
                "job.not_found", .answer, means: "There is no such job.",
                when: "The id is invalid, or the job ended so long ago that it was deleted. Status 404.",
                fix: "Look at the list of jobs."),
            ErrorDescription(
                "job.files", .log, means: "A file of a job could not be read or written.",
                when: "The file does not exist, is not accessible, is reached through a symbolic link, or its server returned an error. "
                    + "The job fails with this error as its Failure. Status 502.",
                fix: "Correct what the message names and start the job again."),
            ErrorDescription(
                "job.line", .log, means: "A line of an import was skipped.",
                when: "It is too long, lacks a required RegistrationId, or would create a registration that already exists. It is recorded "
                    + "in Failed.txt of the job.",
                fix: "Correct the line and import it again."),
            ErrorDescription(
                "job.stopped", .log, means: "The server stopped while the job ran.",
                when: "The server was shut down. Changes imported until then remain. Status 503.", fix: "Start the job again."),
        ])

    private static let feedback = ErrorArea(
        "feedback", "devices with invalid tokens",
        [
            ErrorDescription(
                "feedback.forbidden", .answer, means: "The address of the feedback is not authorized.",
                when: "Its signature is missing, invalid or older than a day. Status 403.",
                fix: "Request feedbackcontainer again, with a key that has Manage."),
            ErrorDescription(
                "feedback.after", .answer, means: "The position in the feedback is invalid.",
                when: "The value of after does not come from a previous page. Status 400.",
                fix: "Follow the Link header of the previous page."),
        ])
}

// What a served hub reads from its clients.
extension ErrorCatalogue {
    static let wireAreas: [ErrorArea] = [xml, sas, registration, job, feedback]

    private static let xml = ErrorArea(
        "xml", "XML documents that a served hub is sent",
        [
            ErrorDescription(
                "xml.invalid", .failure, means: "The document cannot be read.",
                when: "A request's body is not well-formed, has a document type, nests elements deeper than 32 levels or has more than "
                    + "4,096, or is an entry without a description in it. The message names line and column. Status 400.",
                cure: "Correct the document at that place; leave the document type away."),
            ErrorDescription(
                "xml.too_large", .failure, means: "The document is too large to be read.",
                when: "A request's body has more bytes than its kind may have. Status 413.", cure: "Send less in one request."),
        ])

    private static let sas = ErrorArea(
        "sas", "shared access signatures, by which clients of a served hub are known",
        [
            ErrorDescription(
                "sas.missing", .failure, means: "The request is not signed.",
                when: "It has no Authorization header. Status 401.", cure: "Sign it with the key of the connection string."),
            ErrorDescription(
                "sas.malformed", .failure, means: "The signature cannot be read.",
                when:
                    "The Authorization header is no SharedAccessSignature, or one of sr, sig, se and skn is missing or wrong. Status 401.",
                cure: "Write SharedAccessSignature sr=…&sig=…&se=…&skn=…, with the values encoded for a URL."),
            ErrorDescription(
                "sas.signature", .failure, means: "The signature is not that of a key of the hub.",
                when: "There is no rule of that name, or neither of its keys signed the token. Status 401.",
                cure: "Copy the connection string again: key and name belong together."),
            ErrorDescription(
                "sas.expired", .failure, means: "The signature was valid until a moment that has passed.",
                when: "The field se lies more than five minutes back. Status 401.",
                cure: "Sign a new token; where it is new, set the clock of the client."),
            ErrorDescription(
                "sas.audience", .failure, means: "The signature is for another resource.",
                when: "The signed address has another host than the request, or a path that is not above the request's. Status 401.",
                cure: "Sign the address of the hub."),
            ErrorDescription(
                "sas.forbidden", .failure, means: "The key lacks the right for this.",
                when: "A key that may listen sends, or a key without Manage manages. Status 403, and 401 for managing.",
                cure: "Use the connection string of a rule that has the right."),
        ])

    private static let registration = ErrorArea(
        "registration", "registrations that a served hub is sent",
        [
            ErrorDescription(
                "registration.invalid", .failure, means: "The description is not that of a registration.",
                when: "Its element is of no known kind, or lacks the handle or the body of the template. Status 400.",
                cure: "Add what the message names."),
            ErrorDescription(
                "registration.filter", .failure, means: "The filter of a list finds no handle.",
                when: "$filter compares another field than a handle, or with a text that is none. Status 400.",
                cure: "Write $filter=ChannelUri eq 'HANDLE', encoded for a URL."),
        ])

    private static let job = ErrorArea(
        "job", "bulk jobs of a served hub",
        [
            ErrorDescription(
                "job.invalid", .failure, means: "The description is not that of a job.",
                when: "Its type is unknown, or it does not say where to read or to write. Status 400.", cure: "Add what the message names."),
            ErrorDescription(
                "job.uri", .failure, means: "A job can do nothing with such an address.",
                when: "OutputContainerUri or ImportFileUri is none of file:, http: and https:, or a file: with . or .. in its path, a "
                    + "query, or no name. Status 400.", cure: "Write file:///folder/file, or http://host/path."),
            ErrorDescription(
                "job.forbidden", .failure, means: "Jobs may not read or write there.",
                when: "The folder or host is none of the settings jobs.folders and jobs.hosts, or the server runs no jobs. Status 403.",
                cure: "Use one that the hint names, or have the operator add it."),
            ErrorDescription(
                "job.busy", .failure, means: "Too many jobs wait.", when: "A hundred jobs of the hub have not begun. Status 429.",
                cure: "Wait until some have ended."),
            ErrorDescription(
                "job.not_found", .failure, means: "There is no such job.",
                when: "The id was never one of this hub's, or the job ended so long ago that it is forgotten. Status 404.",
                cure: "Look at the list of jobs."),
            ErrorDescription(
                "job.files", .failure, means: "A file of a job could not be read or written.",
                when: "It is not there, may not be used, is reached through a symbolic link, or its server answered with an error. "
                    + "The job fails with this as its Failure. Status 502.", cure: "Correct what the message names and start the job again."
            ),
            ErrorDescription(
                "job.line", .failure, means: "A line of an import was left out.",
                when: "It is too long, lacks the RegistrationId that it needs, or would create a registration that is there already. "
                    + "It stands in Failed.txt of the job.", cure: "Correct the line and import it again."),
            ErrorDescription(
                "job.stopped", .failure, means: "The server ended while the job ran.",
                when: "It was told to stop. What the job had imported until then stays. Status 503.", cure: "Start the job again."),
        ])

    private static let feedback = ErrorArea(
        "feedback", "which devices push services called dead",
        [
            ErrorDescription(
                "feedback.forbidden", .failure, means: "The address of the feedback gives no right to it.",
                when: "Its signature is missing or not the hub's, or it is older than a day. Status 403.",
                cure: "Ask for feedbackcontainer again, with a key that may manage."),
            ErrorDescription(
                "feedback.after", .failure, means: "The feedback has no such place.",
                when: "The value of after is none that a page named. Status 400.", cure: "Follow the Link of the page before."),
        ])
}

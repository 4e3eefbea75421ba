// Commands that manage a server.
extension ErrorCatalogue {
    static let control = ErrorArea(
        "control", "the way from a command to a server",
        [
            ErrorDescription(
                "control.unreachable", .refusal, means: "No server answers.",
                when: "No pushhost serve uses the data folder, or the server of the connection string cannot be reached or shows a "
                    + "certificate that is not trusted. The exit code is 4.",
                cure: "Start the server, or name its data folder with --data or --config; for a certificate that the server made, "
                    + "name its authority with --authority."),
            ErrorDescription(
                "control.answer", .refusal, means: "The answer is not one of a PushHost.",
                when: "Something else has the address, or a version that this one does not know. The exit code is 4.",
                cure: "Check the address, and the versions of server and command."),
            ErrorDescription(
                "control.refused", .refusal, means: "The server refused.",
                when: "It answered with an error that has no code of its own; the message has its words. The exit code is 4.",
                cure: "Do as the message says; the server's log has a line for the request."),
            ErrorDescription(
                "control.forbidden", .answer, means: "This is for the owner of the server.",
                when: "A backup or a restore is asked over a port. Status 403.",
                cure: "Use pushhost hub backup and pushhost hub restore on the machine of the server."),
            ErrorDescription(
                "control.file", .answer, means: "The request does not name a file that the server may use for this.",
                when: "A backup or a restore is asked without pushhost hub. Status 400.",
                cure: "Use pushhost hub backup and pushhost hub restore."),
        ])

    static let connection = ErrorArea(
        "connection", "connection strings",
        [
            ErrorDescription(
                "connection.invalid", .refusal, means: "That is no connection string.",
                when: "--connection or PUSHHOST_CONNECTION has no Endpoint, SharedAccessKeyName or SharedAccessKey. Without quotes a "
                    + "shell ends it at the first semicolon.",
                cure: "Copy all of it from the first screen of pushhost serve --reveal, and put it in quotes."),
            ErrorDescription(
                "connection.authority", .refusal, means: "The file of --authority holds no certificate.",
                when: "It cannot be read, or is not PEM.", cure: "Name the file that the first screen of pushhost serve names."),
        ])

    static let lab = ErrorArea(
        "lab", "simulated push services in a server",
        [
            ErrorDescription(
                "lab.port", .refusal, means: "The lab cannot listen.",
                when: "Another program has the port of lab.port.", cure: "Choose another, or leave it out for a free one."),
            ErrorDescription(
                "lab.credentials", .refusal, means: "Notifications wait for real devices.",
                when: "pushhost serve is started with --lab on data where a hub has credentials and something left to deliver.",
                cure: "Leave out --lab until it is delivered, cancel what is scheduled, or name another data folder."),
        ])

    static let backup = ErrorArea(
        "backup", "pushhost hub backup and restore",
        [
            ErrorDescription(
                "backup.failed", .refusal, means: "A file cannot be read or written.",
                when: "The disk is full, a folder does not exist, or its permissions do not let the command. No part of a backup is "
                    + "left.", cure: "Make room, or name another file.")
        ])
}

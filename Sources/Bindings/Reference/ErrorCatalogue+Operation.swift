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
                when: "Another program has the port of lab.port, or that of lab.tls_port.",
                cure: "Choose another, or leave it out for a free one."),
            ErrorDescription(
                "lab.credentials", .refusal, .answer, means: "Real credentials and a lab exclude each other.",
                when: "pushhost serve is started with --lab on data where a hub has credentials of a push service, or a hub of a server "
                    + "with a lab is given some: simulated phones would get what is meant for real ones.",
                cure: "Leave out --lab, or name another data folder; leave out the credentials."),
            ErrorDescription(
                "lab.key", .answer, means: "The request does not bring the key of the lab.",
                when: "What is under /lab/sessions is asked without Authorization: Bearer KEY, or with another key.",
                cure: "Take the key from the first screen of pushhost serve --lab --reveal, or fix one with lab.key in the settings."),
            ErrorDescription(
                "lab.session", .answer, means: "The lab has no such session, or no room for another one.",
                when: "A session was ended, its client was silent for two minutes, the server was started again, or 64 are open.",
                cure: "Begin another session; end those that are done with."),
            ErrorDescription(
                "lab.full", .failure, .answer, means: "The lab of a server has no room for another phone, or for more on its phones.",
                when: "There are as many phones as lab.phones says, or all phones together hold 4 GiB.",
                cure: "End sessions of the lab, raise lab.phones, or start the server again: its phones are kept in memory alone."),
            ErrorDescription(
                "lab.answer", .failure, means: "The lab of a server answered something that cannot be read.",
                when: "Another program listens at the address, or the server is of another version.",
                cure: "Look at the address of the target, and at the versions of both programs."),
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

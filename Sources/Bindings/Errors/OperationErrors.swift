/// Error codes of commands that manage a server.
enum OperationErrors {
    static let control = ErrorArea(
        "control", "communication of commands with a server",
        [
            ErrorDescription(
                "control.unreachable", .refusal, means: "The server cannot be reached.",
                when: "No pushhost serve uses the data folder, or the server of the connection string does not respond or has an "
                    + "untrusted certificate.",
                fix: "Start the server, or name its data folder with --data or --config. For a certificate created by the server, name "
                    + "its authority with --authority."),
            ErrorDescription(
                "control.answer", .refusal, means: "The response is not from a compatible PushHost.",
                when: "Another program uses the address, or the versions are incompatible.",
                fix: "Check the address, and the versions of server and command."),
            ErrorDescription(
                "control.refused", .refusal, means: "The server rejected the request.",
                when: "It returned an error without a code; the message contains its text.",
                fix: "Follow the message. The server's log has an entry for the request."),
            ErrorDescription(
                "control.forbidden", .answer, means: "This operation requires local access to the server.",
                when: "A request to back up, to restore or to manage APNs channels arrives over the network. Status 403.",
                fix: "Use pushhost hub backup, pushhost hub restore and pushhost apns on the machine of the server."),
            ErrorDescription(
                "control.file", .answer,
                means: "The request does not name a permitted file.",
                when: "The body of a backup or restore request does not name a file backup-….sqlite in the data folder. Such requests are "
                    + "accepted only from pushhost hub backup and pushhost hub restore. Status 400.",
                fix: "Use pushhost hub backup and pushhost hub restore."),
        ])

    static let connection = ErrorArea(
        "connection", "connection strings",
        [
            ErrorDescription(
                "connection.invalid", .refusal, means: "The connection string is invalid.",
                when: "--connection or PUSHHOST_CONNECTION lacks Endpoint, SharedAccessKeyName or SharedAccessKey. Without quotes, a shell "
                    + "ends it at the first semicolon.",
                fix: "Copy all of it from the startup banner of pushhost serve --reveal, and put it in quotes."),
            ErrorDescription(
                "connection.authority", .refusal, means: "The file of --authority is not a certificate.",
                when: "It cannot be read, or is not PEM.", fix: "Use the file that the startup banner of pushhost serve names."),
        ])

    static let lab = ErrorArea(
        "lab", "the lab of a server: simulated devices and push services",
        [
            ErrorDescription(
                "lab.port", .refusal, means: "The lab cannot listen on its port.",
                when: "Another program uses the port lab.port or lab.tls_port.",
                fix: "Choose another port, or omit the setting to use a free one."),
            ErrorDescription(
                "lab.credentials", .refusal, .answer, means: "A lab cannot be combined with real credentials.",
                when: "pushhost serve is started with --lab on data in which a hub has push credentials, or a hub of a server with a lab "
                    + "is given some. Simulated devices could receive real notifications.",
                fix: "Omit --lab, choose another data folder, or remove the credentials."),
            ErrorDescription(
                "lab.key", .answer, means: "The request does not have the key of the lab.",
                when: "A path below /lab/sessions is requested without Authorization: Bearer KEY, or with another key.",
                fix: "Use the key in the startup banner of pushhost serve --lab --reveal, or set one with lab.key in the settings."),
            ErrorDescription(
                "lab.session", .answer, means: "The lab session does not exist, or no more can be opened.",
                when: "The session was ended, its client sent no request for two minutes, the server was restarted, or 64 "
                    + "sessions are open.",
                fix: "Open a new session. End sessions that are no longer used."),
            ErrorDescription(
                "lab.full", .failure, .answer, means: "The lab has no capacity for another device or for more device data.",
                when: "The number of devices has reached lab.phones, or all devices together store 4 GiB.",
                fix: "End sessions of the lab, raise lab.phones, or restart the server: devices are stored only in memory."),
            ErrorDescription(
                "lab.answer", .failure, means: "The response of the lab cannot be read.",
                when: "Another program uses the address, or the server has another version.",
                fix: "Check the address of the target, and the versions of both programs."),
        ])

    static let backup = ErrorArea(
        "backup", "pushhost hub backup and restore",
        [
            ErrorDescription(
                "backup.failed", .breakdown, means: "A file cannot be read or written.",
                when: "The disk is full, a folder does not exist, permissions are missing, or the file is in the data folder or not a "
                    + "regular file. No partial backup remains.",
                fix: "Free space, or choose another file.")
        ])
}

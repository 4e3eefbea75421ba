/// Error codes of servers: settings, requests and responses.
enum ServerErrors {
    static let all: [ErrorArea] = [
        serve, data, tls, settings, request, storage, simulators, OperationErrors.control, OperationErrors.connection,
        OperationErrors.backup, OperationErrors.lab,
    ]

    private static let serve = ErrorArea(
        "serve", "pushhost serve",
        [
            ErrorDescription(
                "serve.port", .refusal, means: "The server cannot listen on the address or port.",
                when: "Another program uses the port, the address does not belong to this machine, or the system reserves the port.",
                fix: "Stop the other program, or choose another port or address: see listen.* in pushhost reference settings."),
            ErrorDescription(
                "serve.files", .refusal, means: "The system's limit of open files is too low for a server.",
                when: "ulimit -n is lower than needed for event loops, database, sockets and a few clients. The message gives the required "
                    + "number.",
                fix: "Raise it with ulimit -n, or with LimitNOFILE= in the systemd unit."),
            ErrorDescription(
                "serve.failed", .breakdown, means: "The server had to stop.",
                when: "The system withdrew a resource that is needed to accept connections.", fix: "See the preceding lines of the log."),
        ])

    private static let data = ErrorArea(
        "data", "the data folder of a server",
        [
            ErrorDescription(
                "data.unusable", .refusal, means: "The data folder cannot be used.",
                when: "It cannot be created or is not writable.", fix: "Choose a writable folder with --data."),
            ErrorDescription(
                "data.in_use", .refusal, means: "The data folder is used by another server.",
                when: "A second pushhost serve is started with the same folder.", fix: "Stop the other server, or choose another folder."),
            ErrorDescription(
                "data.payload_key", .refusal, means: "The key file of the server is invalid.",
                when: "payload.key in the data folder, or the file of key.file, was changed or truncated, or cannot be created or read. It "
                    + "is not overwritten.",
                fix: "Restore the correct file. If it is lost, remove the file and run pushhost hub renew-secrets."),
            ErrorDescription(
                "data.key_missing", .refusal, means: "The key file of a used data folder is missing.",
                when: "The database was used with a key file that no longer exists, for example because a disk is not mounted or key.file "
                    + "names another location. Or the data folder records an external key file, and the command was given the folder "
                    + "without the settings that name this file; or that record is damaged. No new key is created, and nothing is changed.",
                fix: "Restore the file, name it with key.file, or name the settings with --config. If it is lost, pushhost hub "
                    + "renew-secrets creates a new key, replaces access keys and removes push credentials; devices and notifications "
                    + "remain. If the message names a recorded key file, add --key-is-lost."),
        ])

    private static let tls = ErrorArea(
        "tls", "certificates",
        [
            ErrorDescription(
                "tls.unusable", .refusal, means: "The certificate or its key is invalid.",
                when: "A file of tls.certificate or tls.key cannot be read, is not PEM, or the two do not match; or a development "
                    + "certificate cannot be created for one of the names.",
                fix: "Give the chain, beginning with the server's own certificate, and its key; or neither, to use a certificate created "
                    + "by the server.")
        ])

    private static let storage = ErrorArea(
        "storage", "database and backups of a server",
        [
            ErrorDescription(
                "storage.unavailable", .refusal, .answer, means: "The storage is not writable.",
                when: "The disk is full, the file is not writable, or the disk is faulty; the message names the cause. The request was not "
                    + "processed. No stored data is lost. Status 503.",
                fix: "Free space or repair the disk, then repeat the request."),
            ErrorDescription(
                "storage.corrupt", .refusal, .answer, means: "Stored data is corrupt.",
                when: "A row or the whole database is damaged, or was written by another program. Status 500.",
                fix: "Restore a backup; the message names the row. If pages of the database are damaged, /health/ready returns 503 until "
                    + "pushhost hub restore FILE has restored a backup."),
            ErrorDescription(
                "storage.damaged", .refusal, means: "The database of a data folder is missing or damaged.",
                when: "The data folder was used by a server, but its pushhost.sqlite is missing, empty, truncated or overwritten; or the "
                    + "log beside it, pushhost.sqlite-wal, is damaged or belongs to another database; or the server was killed, and the "
                    + "log is missing, empty or truncated; or another program truncated the log of a running server. No new database is created, and nothing is changed.",
                fix: "Restore a backup with pushhost hub restore FILE. To continue without the changes of a lost log, remove the file that "
                    + "the message names. To start with an empty database, move the data folder away or choose another one with --data."),
            ErrorDescription(
                "storage.sealed", .refusal, .answer, means: "The secrets of a database are encrypted with another key.",
                when: "The key file is not that of the server that wrote the database or the backup. Nothing is changed. Status 409.",
                fix: "Restore the correct key file, for example from the copy that is stored apart from the backups. To restore a backup "
                    + "of another server, stop the server first, because its own database needs its own key. If the key is lost, continue "
                    + "with new access keys and without push credentials: pushhost hub renew-secrets if a server does not start, pushhost "
                    + "hub restore FILE --renew-secrets for a backup."),
            ErrorDescription(
                "storage.conflict", .answer, means: "A number or id was assigned twice.",
                when: "Two servers use the same data. Status 500.", fix: "Let only one server use the data folder."),
            ErrorDescription(
                "storage.newer_schema", .refusal, means: "The database was written by a newer version.",
                when: "This version of pushhost is older than the one that last used the data folder.", fix: "Use the newer version."),
            ErrorDescription(
                "storage.foreign_file", .refusal, means: "The file is not a database of pushhost.",
                when: "pushhost.sqlite in the data folder, or the backup to restore, was created by another program.",
                fix: "Restore a backup with pushhost hub restore FILE, or choose another folder or backup."),
            ErrorDescription(
                "storage.memory", .refusal,
                means: "In-memory storage cannot be backed up.",
                when: "A backup or a restore is requested from a server that stores its data only in memory. Status 400.",
                fix: "Run the server with a database file."),
            ErrorDescription(
                "storage.not_found", .refusal,
                means: "A data folder or a backup does not exist.",
                when: "A backup is requested of a folder without server data, or the path of the backup to restore is wrong. Status 404.",
                fix: "Name the data folder with --data or --config, or a backup that exists."),
            ErrorDescription(
                "storage.backup_exists", .refusal, means: "A backup would overwrite a file.",
                when: "The file for the backup already exists. Status 409.", fix: "Name a file that does not exist."),
        ])

    private static let simulators = ErrorArea(
        "simulators", "simulated push services over the network",
        [
            ErrorDescription(
                "simulators.unusable", .failure, .refusal, means: "The simulators are not available.",
                when: "The server is configured to send to simulators that do not respond or are not simulators. The error is shown as the "
                    + "explanation of device outcomes. Or pushhost simulate, or a run with --wire network, cannot open enough files and "
                    + "sockets.",
                fix: "Start pushhost simulate at that address; the server retries. If the limit of open files is too low, raise it with "
                    + "ulimit -n, or omit --wire network.")
        ])

    private static let settings = ErrorArea(
        "settings", "settings of pushhost serve",
        [
            ErrorDescription(
                "settings.invalid", .refusal, means: "Settings are invalid.",
                when: "A name in the file is unknown, a value is invalid, or two settings conflict. All problems are listed with their "
                    + "position.",
                fix: "Correct them as listed. pushhost reference settings lists all settings with their format."),
            ErrorDescription(
                "settings.unreadable", .refusal, means: "The settings file cannot be read.",
                when: "The file of --config does not exist, is not a regular file, or is not readable.",
                fix: "Name an existing file, or omit --config."),
        ])

    private static let request = ErrorArea(
        "request", "invalid requests to a server",
        [
            ErrorDescription(
                "request.body", .answer, means: "The body of the request is invalid.",
                when: "A body of the JSON API is not JSON, has an unknown, duplicate, missing or invalid member. Status 400.",
                fix: "Correct what the message and the hint name. /openapi.json describes every body."),
            ErrorDescription(
                "request.broken", .answer, means: "The body of the request is incomplete.",
                when: "The connection ended or violated HTTP before the end of the body. Status 400.", fix: "Send it again."),
            ErrorDescription(
                "request.busy", .answer, means: "The server has no memory for the body of the request.",
                when: "Too many bytes of requests and responses are pending for the client's address or for the whole server: see "
                    + "limits.address_bytes and limits.server_bytes. Status 503. A request that is rejected before its body gets 503 "
                    + "without a body.",
                fix: "Read the responses of earlier requests, and send the request again after a second."),
            ErrorDescription(
                "request.encoding", .answer, means: "The server does not support the content coding of the request.",
                when: "The request has Content-Encoding: gzip or another content coding. Nothing was changed. Status 415; Accept-Encoding "
                    + "lists supported codings.",
                fix: "Send the body without Content-Encoding."),
            ErrorDescription(
                "request.host", .answer, means: "The request has no valid Host header.",
                when: "The header Host is missing, empty, or neither a name nor an address. Status 400.",
                fix: "Send the header Host, as HTTP/1.1 requires."),
            ErrorDescription(
                "request.method", .answer, means: "The resource does not support this method.",
                when: "A path is requested with a method that it does not support. Status 405.",
                fix: "Use one of the methods in the message and the header Allow."),
            ErrorDescription(
                "request.parameter", .answer, means: "A query parameter of the request is invalid.",
                when: "The query of a request to the JSON API has an invalid value. Status 400.",
                fix: "Use one of the values in the hint. /openapi.json lists all parameters."),
            ErrorDescription(
                "request.path", .answer, means: "The path does not exist in the JSON API or the app backend.",
                when: "A path below /api/ is unknown. Status 404.",
                fix: "Use a path from /openapi.json or from the guide to the app backend. Write a slash in a hub's name as %2F."),
            ErrorDescription(
                "request.too_large", .answer, means: "The body of the request is too large.",
                when: "It exceeds the limit of its path: 64 KiB for a notification, 256 KiB for a registration, an installation or a body "
                    + "of the JSON API. Status 413.",
                fix: "Split the request."),
            ErrorDescription(
                "request.too_slow", .answer, means: "The body of the request arrived too slowly.",
                when: "It was not complete within limits.body (30 seconds by default) after the headers. Status 408.",
                fix: "Send it again over a faster connection."),
        ])
}

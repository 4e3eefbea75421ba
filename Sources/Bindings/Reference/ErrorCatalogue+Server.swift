// The server: what it is started with, and what it answers.
extension ErrorCatalogue {
    static let serverAreas: [ErrorArea] = [serve, data, tls, settings, request, storage, simulators, control, connection, backup, lab]

    private static let serve = ErrorArea(
        "serve", "pushhost serve",
        [
            ErrorDescription(
                "serve.port", .refusal, means: "The server cannot listen where it shall.",
                when: "Another program has the port, the address is none of this machine, or the system keeps the port for itself.",
                cure: "End the other program, or choose another port or address: see listen.* in pushhost reference settings."),
            ErrorDescription(
                "serve.files", .refusal, means: "The system allows too few open files for a server.",
                when: "ulimit -n is below what the server needs for its event loops, its database, its sockets and a few clients. "
                    + "The message says how many it needs.",
                cure: "Allow more with ulimit -n, or with LimitNOFILE= in the unit of systemd."),
            ErrorDescription(
                "serve.failed", .failure, means: "The server could not go on.",
                when: "The system took away what it needs to take connections.", cure: "Look at the log before this line."),
        ])

    private static let data = ErrorArea(
        "data", "the folder of a server",
        [
            ErrorDescription(
                "data.unusable", .refusal, means: "The data folder cannot be used.",
                when: "It cannot be made, or may not be written to.", cure: "Name a folder that you may write to with --data."),
            ErrorDescription(
                "data.in_use", .refusal, means: "Another server uses the data folder.",
                when: "A second pushhost serve is started on the same folder.", cure: "End the other one, or name another folder."),
            ErrorDescription(
                "data.payload_key", .refusal, means: "The key file of the server is not usable.",
                when: "payload.key of the data folder, or the file of key.file, was changed or cut short, or cannot be made or read. "
                    + "Nothing is written over it.",
                cure: "Put the right file back. If it is lost, remove the file and run pushhost hub renew-secrets."),
            ErrorDescription(
                "data.key_missing", .refusal, means: "The key file of a used data folder is missing.",
                when: "The database was used with a key file that is not there, for example because a disk is not mounted or key.file "
                    + "names another place. Or the data folder records a key file outside of it, and the command was given the folder "
                    + "without the settings that name this file. No new key is made, and nothing is changed.",
                cure: "Put the file back, name it with key.file, or name the settings with --config. If it is lost, pushhost hub "
                    + "renew-secrets makes a new key, gives access keys new values and removes push credentials; devices and "
                    + "notifications stay. Where the message names a recorded key file, add --key-is-lost."),
        ])

    private static let tls = ErrorArea(
        "tls", "certificates",
        [
            ErrorDescription(
                "tls.unusable", .refusal, means: "The certificate or its key cannot be used.",
                when: "A file of tls.certificate or tls.key cannot be read, is not PEM, or the two do not belong together; or a "
                    + "certificate for development cannot be made for one of the names.",
                cure: "Give the chain, the server's own certificate first, and its key; or neither, for one made by the server.")
        ])

    private static let storage = ErrorArea(
        "storage", "what a server keeps",
        [
            ErrorDescription(
                "storage.unavailable", .answer, means: "Nothing can be kept just now.",
                when: "The disk is full, the file may not be written, or the disk has a fault; the message says which. What was asked "
                    + "for was not done, and nothing that was kept is lost. Status 503.",
                cure: "Make room or mend the disk, then repeat the request."),
            ErrorDescription(
                "storage.corrupt", .refusal, .answer, means: "What is kept cannot be understood.",
                when: "A row or the whole file of the database is damaged, or was written by something else. Status 500.",
                cure:
                    "Restore a backup; the message names the row. Where pages of the database are damaged, /health/ready answers 503 until "
                    + "pushhost hub restore FILE has put a backup in its place."),
            ErrorDescription(
                "storage.damaged", .refusal, means: "The database of a data folder was lost or damaged.",
                when:
                    "The data folder was used by a server, and its pushhost.sqlite is missing, empty, cut short or overwritten; or the log "
                    + "beside it, pushhost.sqlite-wal, is damaged or belongs to another database. Nothing is made in its place and nothing "
                    + "is changed.",
                cure: "Put a backup in its place with pushhost hub restore FILE. To begin anew, move the data folder away, or name another "
                    + "one with --data."),
            ErrorDescription(
                "storage.sealed", .refusal, .answer, means: "The secrets of a database are sealed with another key.",
                when: "The key file is not that of the server that wrote the database or the backup. Nothing is changed. Status 409.",
                cure: "Put the right key file in place, for example the copy that is stored apart from the backups; for a backup of "
                    + "another server, end the server first: its own database opens with its own key alone. If the key is lost, go on "
                    + "with new access keys and without push credentials: pushhost hub renew-secrets where a server does not start, "
                    + "pushhost hub restore FILE --renew-secrets for a backup."),
            ErrorDescription(
                "storage.conflict", .answer, means: "A number or an id was given out twice.",
                when: "Two servers that cannot be one use the same data. Status 500.", cure: "Let one server use the data folder."),
            ErrorDescription(
                "storage.newer_schema", .refusal, means: "The database was written by a newer version.",
                when: "pushhost is older than the one that used the data folder before.", cure: "Use the newer version."),
            ErrorDescription(
                "storage.foreign_file", .refusal, means: "The file is no database of pushhost.",
                when: "The data folder's pushhost.sqlite, or the backup to restore, was made by another program.",
                cure: "Put a backup in its place with pushhost hub restore FILE, or name another folder, or another backup."),
            ErrorDescription(
                "storage.memory", .refusal, means: "What lives in memory cannot be backed up.",
                when: "A backup is asked of a storage that keeps nothing.", cure: "Use a storage that keeps its data in a file."),
            ErrorDescription(
                "storage.not_found", .refusal, means: "The backup to restore does not exist.",
                when: "The path is wrong. Status 404.", cure: "Name a backup that exists."),
            ErrorDescription(
                "storage.backup_exists", .refusal, means: "A backup would overwrite a file.",
                when: "There is a file where the backup shall be written. Status 409.", cure: "Name a file that does not exist."),
        ])

    private static let simulators = ErrorArea(
        "simulators", "the simulated push services on sockets",
        [
            ErrorDescription(
                "simulators.unusable", .failure, means: "The simulators cannot be used.",
                when: "The server is told to send to simulators that do not answer, or that are none. It shows as the explanation of "
                    + "a device's outcome. Or pushhost simulate, or a run with --wire network, cannot have the files and sockets that it "
                    + "needs.",
                cure: "Start pushhost simulate at that address; the server tries again. Where files are short, allow more with ulimit -n, "
                    + "or leave out --wire network.")
        ])

    private static let settings = ErrorArea(
        "settings", "what pushhost serve is told",
        [
            ErrorDescription(
                "settings.invalid", .refusal, means: "One setting or several are wrong.",
                when: "A name in the file is none of the settings, a value does not fit, or two settings do not go together. All faults "
                    + "are listed, each with where it stands.",
                cure: "Mend them as the lines say; pushhost reference settings lists every setting with its form."),
            ErrorDescription(
                "settings.unreadable", .refusal, means: "The file of settings cannot be read.",
                when: "The file of --config does not exist, is no file, or may not be read.",
                cure: "Name a file that exists, or leave --config out."),
        ])

    private static let request = ErrorArea(
        "request", "requests to a server that are none",
        [
            ErrorDescription(
                "request.body", .answer, means: "The body of the request is not what it must be.",
                when: "A body of the JSON interface is no JSON, has a member that is unknown or twice, lacks one, or has a value that does "
                    + "not fit. Status 400.", cure: "Write what the message and the hint say; /openapi.json has the form of every body."),
            ErrorDescription(
                "request.broken", .answer, means: "The body of the request did not arrive whole.",
                when: "The connection ended, or broke the rules of HTTP, before the body did. Status 400.", cure: "Send it again."),
            ErrorDescription(
                "request.busy", .answer, means: "The server has no memory left for the body of the request.",
                when:
                    "Too many bytes of requests and answers wait for the client's address or for the whole server: see limits.address_bytes "
                    + "and limits.server_bytes. Status 503. A request that is refused before it begins gets 503 without a body.",
                cure: "Read the answers of earlier requests, and send it again in a second."),
            ErrorDescription(
                "request.encoding", .answer, means: "The body of the request has a content coding that the server does not decode.",
                when: "The request has Content-Encoding: gzip, or another registered content coding. Nothing was changed. Status 415; "
                    + "Accept-Encoding says what is taken.",
                cure: "Send the body as it is, without Content-Encoding."),
            ErrorDescription(
                "request.host", .answer, means: "The request names no host.",
                when: "It has no header Host, an empty one, or one that is no name and no address. Status 400.",
                cure: "Send the header Host, as HTTP/1.1 asks."),
            ErrorDescription(
                "request.method", .answer, means: "What is addressed does not take this method.",
                when: "A path of the hub's interface is asked with a method that it does not have. Status 405.",
                cure: "Use one of the methods that the message and the header Allow name."),
            ErrorDescription(
                "request.parameter", .answer, means: "A parameter of the request is not what it may be.",
                when: "The query of a request to the JSON interface has a value that the parameter does not take. Status 400.",
                cure: "Take one of the values that the hint names; /openapi.json lists all parameters."),
            ErrorDescription(
                "request.path", .answer, means: "Neither the JSON interface nor the app backend has such a path.",
                when: "A path below /api/ is none of theirs. Status 404.",
                cure:
                    "Take one of /openapi.json, or of the guide to the app backend. A hub's name is one part of the path: a slash in it is written %2F."
            ),
            ErrorDescription(
                "request.too_large", .answer, means: "The body of the request is too large.",
                when: "It has more bytes than its route takes: 64 KiB for a notification, 256 KiB for a registration, an "
                    + "installation or a body of the JSON interface. Status 413.", cure: "Send less at a time."),
            ErrorDescription(
                "request.too_slow", .answer, means: "The body of the request took too long.",
                when: "It was not complete within limits.body (30 seconds by default) after its head. Status 408.",
                cure: "Send it again, over a better connection."),
        ])
}

/// The tables of a PostgreSQL database.
///
/// They keep to what PostgreSQL, CockroachDB, YugabyteDB and Citus have in common as far as their documentation tells: plain tables, the
/// hub first in each key of its data, no sequences, triggers, extensions or advisory locks. Numbers come from rows of the table
/// `counter`: the lock of the row makes the order of numbers the order of transactions, without gaps, so that a reader may go on after
/// the last number it has seen.
enum PostgreSQLSchema {
    /// A step from one version to the next.
    struct Step {
        /// The oldest version of the program's schema that can use the tables after this step. A program that is older refuses to start.
        let bearableBy: Int64
        let statements: [String]
    }

    /// The version after a step is its position, from 1. Steps are only ever appended.
    static let steps = [
        Step(bearableBy: 1, statements: namespace + registrations + notifications + plans + feedback + automation + backend + audit)
    ]

    /// The tables with data of a hub, and the columns that identify a row within it.
    static let tablesOfHub = [
        ("registration", "place"), ("template", "key"), ("installation", "place"), ("departure", "id"), ("last_outcome_block", "block"),
        ("outcome_batch", "notification, first"), ("dead_batch", "notification, first"), ("notification", "sequence"),
        ("plan_part", "plan, part"), ("plan", "number"), ("job", "id"), ("pruned", "number"), ("pruned_telling", "hub"),
        ("approval", "number"), ("held_removal", "number"), ("counter", "kind"),
    ]

    private static let namespace = [
        "CREATE TABLE secret_key (key bigint PRIMARY KEY CHECK (key = 1), id bytea NOT NULL)",
        """
        CREATE TABLE namespace (
            key bigint PRIMARY KEY CHECK (key = 1), rules text NOT NULL, last_hub bigint NOT NULL, secrets bytea)
        """,
        "INSERT INTO namespace (key, rules, last_hub) VALUES (1, '[]', 0)",
        """
        CREATE TABLE hub (
            number bigint PRIMARY KEY, name text NOT NULL, folded_name text COLLATE "C" NOT NULL UNIQUE, description text NOT NULL,
            created_at bigint NOT NULL, updated_at bigint NOT NULL, secrets bytea)
        """,
        // Removed hubs whose rows are still being deleted.
        "CREATE TABLE leaving_hub (number bigint PRIMARY KEY)",
        // The last number that was given out. Server-wide numbers have hub 0.
        """
        CREATE TABLE counter (hub bigint NOT NULL, kind text COLLATE "C" NOT NULL, last bigint NOT NULL, PRIMARY KEY (hub, kind))
        """,
    ]

    private static let registrations = [
        """
        CREATE TABLE template (
            hub bigint NOT NULL, key bigint NOT NULL, digest bytea NOT NULL, content text NOT NULL, PRIMARY KEY (hub, key),
            UNIQUE (hub, digest))
        """,
        """
        CREATE TABLE registration (
            hub bigint NOT NULL, place bigint NOT NULL, id text COLLATE "C" NOT NULL, etag bigint NOT NULL, expiration bigint NOT NULL,
            updated_at bigint NOT NULL, platform text NOT NULL, handle text NOT NULL, tags text NOT NULL, template bigint,
            push_variables text, installation text, secondary_tile text, PRIMARY KEY (hub, place), UNIQUE (hub, id))
        """,
        "CREATE INDEX registration_by_template ON registration (hub, template) WHERE template IS NOT NULL",
        """
        CREATE TABLE installation (
            hub bigint NOT NULL, place bigint NOT NULL, expiration bigint NOT NULL, content text NOT NULL, PRIMARY KEY (hub, place))
        """,
        """
        CREATE TABLE departure (
            hub bigint NOT NULL, id text COLLATE "C" NOT NULL, time bigint NOT NULL, reason text NOT NULL, detail text, platform text,
            handle text, expiration bigint, installation text, PRIMARY KEY (hub, id))
        """,
        "CREATE INDEX departure_by_time ON departure (hub, time)",
        // Handles may be longer than an index entry may be.
        "CREATE INDEX departure_by_handle ON departure (hub, md5(handle)) WHERE handle IS NOT NULL",
        "CREATE INDEX departure_by_installation ON departure (hub, md5(installation)) WHERE installation IS NOT NULL",
        // The outcomes of the last pushes to 1,024 registration rows, one byte each.
        """
        CREATE TABLE last_outcome_block (
            hub bigint NOT NULL, block bigint NOT NULL, content bytea NOT NULL, PRIMARY KEY (hub, block))
        """,
    ]

    private static let notifications = [
        """
        CREATE TABLE notification (
            hub bigint NOT NULL, sequence bigint NOT NULL, id text NOT NULL, request text NOT NULL, idempotency_key text COLLATE "C",
            fingerprint bytea, state text NOT NULL, is_final boolean NOT NULL, tags text, enqueued_at bigint NOT NULL, started_at bigint,
            ended_at bigint, scheduled_for bigint, counts text, near_misses text, remarks text, origin text, holds bytea, plan bigint,
            PRIMARY KEY (hub, sequence))
        """,
        "CREATE UNIQUE INDEX notification_by_key ON notification (hub, idempotency_key) WHERE idempotency_key IS NOT NULL",
        "CREATE INDEX notification_unfinished ON notification (hub, sequence) WHERE NOT is_final",
        "CREATE INDEX notification_by_end ON notification (hub, ended_at, sequence) WHERE is_final",
        "CREATE INDEX notification_by_plan ON notification (hub, plan, sequence) WHERE plan IS NOT NULL",
        // Devices of a notification from ordinal first on, encoded by OutcomeBatch.
        """
        CREATE TABLE outcome_batch (
            hub bigint NOT NULL, notification bigint NOT NULL, first bigint NOT NULL, count bigint NOT NULL, content bytea NOT NULL,
            PRIMARY KEY (hub, notification, first))
        """,
        // Again, only the devices whose registrations were removed; the first one has ordinal first.
        """
        CREATE TABLE dead_batch (
            hub bigint NOT NULL, notification bigint NOT NULL, first bigint NOT NULL, ordinals bytea NOT NULL, content bytea NOT NULL,
            PRIMARY KEY (hub, notification, first))
        """,
    ]

    private static let plans = [
        """
        CREATE TABLE plan (
            hub bigint NOT NULL, number bigint NOT NULL, subject text NOT NULL, made_at bigint NOT NULL, content text NOT NULL,
            PRIMARY KEY (hub, number))
        """,
        "CREATE INDEX plan_by_subject ON plan (hub, md5(subject), number)",
        """
        CREATE TABLE plan_part (
            hub bigint NOT NULL, plan bigint NOT NULL, part bigint NOT NULL, content bytea NOT NULL, PRIMARY KEY (hub, plan, part))
        """,
        """
        CREATE TABLE approval (
            number bigint PRIMARY KEY, hub bigint NOT NULL, state text COLLATE "C" NOT NULL, requester text COLLATE "C" NOT NULL,
            fingerprint bytea NOT NULL, idempotency_key text COLLATE "C", expires_at bigint NOT NULL, content text NOT NULL,
            request text)
        """,
        "CREATE INDEX approval_by_state ON approval (state, number)",
        "CREATE INDEX approval_by_requester ON approval (hub, requester)",
    ]

    private static let feedback = [
        """
        CREATE TABLE job (
            hub bigint NOT NULL, id text COLLATE "C" NOT NULL, kind text NOT NULL, status text NOT NULL, is_final boolean NOT NULL,
            progress bigint NOT NULL, created_at bigint NOT NULL, updated_at bigint NOT NULL, secrets bytea NOT NULL,
            PRIMARY KEY (hub, id))
        """,
        """
        CREATE TABLE pruned (
            hub bigint NOT NULL, number bigint NOT NULL, time bigint NOT NULL, is_restored boolean NOT NULL, id text NOT NULL,
            notification text NOT NULL, platform text NOT NULL, handle text NOT NULL, reason text NOT NULL, content text NOT NULL,
            PRIMARY KEY (hub, number))
        """,
        "CREATE INDEX pruned_by_time ON pruned (hub, time)",
        """
        CREATE TABLE pruned_telling (hub bigint PRIMARY KEY, offered bigint NOT NULL, acknowledged bigint NOT NULL)
        """,
        // Handles are found by their digests, because they may be longer than an index entry may be.
        """
        CREATE TABLE held_removal (
            hub bigint NOT NULL, number bigint NOT NULL, time bigint NOT NULL, valid_before bigint NOT NULL, notification text NOT NULL,
            platform text NOT NULL, handle text NOT NULL, digest bytea NOT NULL, reason text NOT NULL, PRIMARY KEY (hub, number),
            UNIQUE (hub, digest))
        """,
    ]

    private static let automation = [
        """
        CREATE TABLE run (
            number bigint PRIMARY KEY, flow text NOT NULL, key text, digest bytea UNIQUE, state text NOT NULL, is_final boolean NOT NULL,
            trigger text NOT NULL, queued_at bigint NOT NULL, ended_at bigint, content text NOT NULL, report text)
        """,
        "CREATE INDEX run_by_flow ON run (md5(flow), number)",
        "CREATE INDEX run_unfinished ON run (number) WHERE NOT is_final",
        "CREATE INDEX run_by_end ON run (ended_at) WHERE is_final",
        """
        CREATE TABLE schedule (
            name text COLLATE "C" PRIMARY KEY, is_configured boolean NOT NULL, is_paused boolean NOT NULL, heard bigint,
            content text NOT NULL)
        """,
        // Hub events that no flow has been started for yet.
        """
        CREATE TABLE hub_event (
            number bigint PRIMARY KEY, hub text NOT NULL, kind text NOT NULL, time bigint NOT NULL, content text NOT NULL)
        """,
        """
        CREATE TABLE key_value_space (
            name bytea PRIMARY KEY, entries bigint NOT NULL, bytes bigint NOT NULL, last_version bigint NOT NULL)
        """,
        // Spaces and keys are in the order of their bytes. Values as sealed JSON, and rate-limit slots packed by SlotWindow.
        """
        CREATE TABLE key_value (
            space bytea NOT NULL, kind bigint NOT NULL, key bytea NOT NULL, version bigint NOT NULL, expiration bigint,
            content bytea NOT NULL, PRIMARY KEY (space, kind, key))
        """,
        "CREATE INDEX key_value_by_expiration ON key_value (space, expiration) WHERE expiration IS NOT NULL",
    ]

    /// Users are found by their tags in lower case and in Unicode's composed form.
    private static let backend = [
        """
        CREATE TABLE account (
            user_key text COLLATE "C" PRIMARY KEY, user_tag text NOT NULL, username text NOT NULL, cost bigint NOT NULL,
            salt bytea NOT NULL, digest bytea NOT NULL)
        """,
        """
        CREATE TABLE session (
            digest bytea PRIMARY KEY, user_key text COLLATE "C" NOT NULL, username text NOT NULL, expiration bigint NOT NULL)
        """,
        "CREATE INDEX session_by_user ON session (user_key)",
        "CREATE INDEX session_by_expiration ON session (expiration)",
        """
        CREATE TABLE secure_payload (
            id text COLLATE "C" PRIMARY KEY, sender text NOT NULL, sender_key text COLLATE "C" NOT NULL, addressee text NOT NULL,
            addressee_key text COLLATE "C" NOT NULL, expiration bigint NOT NULL, maximum_reads bigint, sealed bytea,
            granted_reads bigint NOT NULL, ending text, reads text NOT NULL, key_mark bytea NOT NULL)
        """,
        "CREATE INDEX secure_payload_readable ON secure_payload (addressee_key, expiration, id) WHERE ending IS NULL",
        "CREATE INDEX secure_payload_by_sender ON secure_payload (sender_key)",
        "CREATE INDEX secure_payload_by_addressee ON secure_payload (addressee_key)",
        "CREATE INDEX secure_payload_by_expiration ON secure_payload (expiration)",
        "CREATE INDEX secure_payload_by_key ON secure_payload (key_mark) WHERE ending IS NULL",
        "CREATE TABLE provider_token (key text COLLATE \"C\" PRIMARY KEY, issued_at bigint NOT NULL, secrets bytea NOT NULL)",
    ]

    private static let audit = [
        """
        CREATE TABLE audit_entry (
            sequence bigint PRIMARY KEY, time bigint NOT NULL, actor text NOT NULL, action text NOT NULL, subject text NOT NULL,
            details text NOT NULL, outcome text NOT NULL, hash bytea NOT NULL)
        """,
        "CREATE INDEX audit_entry_by_actor ON audit_entry (md5(actor), sequence)",
        "CREATE INDEX audit_entry_by_action ON audit_entry (md5(action), sequence)",
        // The last entry appended. Without it, entries removed from the end could not be detected.
        "CREATE TABLE audit_end (key bigint PRIMARY KEY CHECK (key = 1), sequence bigint NOT NULL, hash bytea NOT NULL)",
        "INSERT INTO audit_end VALUES (1, 0, decode('\(String(repeating: "00", count: 32))', 'hex'))",
        // Entries are never changed or removed, also not by mistake.
        "REVOKE UPDATE, DELETE, TRUNCATE ON audit_entry FROM CURRENT_USER",
    ]
}

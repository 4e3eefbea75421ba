import FoundationEssentials
import GRDB

/// The tables, and the migrations from older versions.
enum SQLiteSchema {
    /// "PuHo" in the file header. Identifies databases of this program.
    static let applicationID: Int64 = 0x5075_486F

    /// Orders and compares user tags like `Tag`: case-insensitive, with canonical Unicode equivalence.
    static let tagCollation = DatabaseCollation("tag") { left, right in
        let (left, right) = (left.lowercased(), right.lowercased())
        return left == right ? .orderedSame : left < right ? .orderedAscending : .orderedDescending
    }

    /// For operations without a key: listing versions, and checking whether a database is newer.
    static let migrator = migrator(sealingWith: nil)

    /// - Parameter seal: seals secrets that an older version stored in clear. Without it, the migration that does so throws
    ///   `storage.sealed`.
    static func migrator(sealingWith seal: SecretSeal?) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { database in
            try database.execute(sql: namespace)
            try database.execute(sql: registrations)
            try database.execute(sql: notifications)
            try database.execute(sql: backend)
        }
        migrator.registerMigration("feedback and jobs") { database in try database.execute(sql: feedbackAndJobs) }
        migrator.registerMigration("keys of notifications, names of hubs") { database in
            try database.execute(sql: notificationKeys)
            try database.execute(sql: hubNames)
        }
        migrator.registerMigration("tokens for push services") { database in try database.execute(sql: providerTokens) }
        migrator.registerMigration("installations of devices") { database in
            try database.execute(sql: "ALTER TABLE device_outcome ADD COLUMN installation TEXT")
        }
        migrator.registerMigration("users of templates") { database in
            try database.execute(
                sql: "CREATE INDEX registration_by_template ON registration (template) WHERE template IS NOT NULL")
        }
        migrator.registerMigration("keys of secure payloads") { database in
            try database.execute(sql: payloadKeys)
        }
        migrator.registerMigration("outcomes in batches") { database in
            try database.execute(sql: outcomes)
            try OutcomeMigration.move(in: database)
            try database.execute(sql: "DROP TABLE device_outcome; DROP TABLE last_outcome")
        }
        migrator.registerMigration("remarks on notifications") { database in
            try database.execute(sql: "ALTER TABLE notification ADD COLUMN remarks TEXT")
        }
        migrator.registerMigration("devices that were pruned") { database in try database.execute(sql: pruned) }
        migrator.registerMigration("keys and values, an audit trail") { database in
            try database.execute(sql: keysAndValues)
            try database.execute(sql: auditTrail)
        }
        migrator.registerMigration("origins of notifications") { database in
            try database.execute(sql: "ALTER TABLE notification ADD COLUMN origin TEXT")
        }
        migrator.registerMigration("devices that are held") { database in
            try database.execute(sql: "ALTER TABLE notification ADD COLUMN holds BLOB")
        }
        migrator.registerMigration("sends that wait for leave") { database in try database.execute(sql: approvals) }
        migrator.registerMigration("runs of flows") { database in try database.execute(sql: runs) }
        migrator.registerMigration("whose registrations left") { database in try database.execute(sql: departedDevices) }
        migrator.registerMigration("plans") { database in try database.execute(sql: plans) }
        migrator.registerMigration("sends to plans") { database in
            try database.execute(sql: "CREATE INDEX notification_by_plan ON notification (plan) WHERE plan IS NOT NULL")
        }
        migrator.registerMigration("held removals") { database in try database.execute(sql: SQLiteHeldRemovalTable.schema) }
        migrator.registerMigration("sealed secrets") { database in
            guard let seal else { throw StorageError.unsealed }
            try SecretMigration.seal(with: seal, in: database)
        }
        migrator.registerMigration("notices as values") { database in try NoticeMigration.run(in: database) }
        migrator.registerMigration("causes as values") { database in try CauseMigration.run(in: database) }
        return migrator
    }

    /// The tables with data of a hub: name, key columns, condition for the rows of hub `?1`, and number of rows deleted per transaction, so
    /// that other changes need not wait long.
    static let tablesOfHub = [
        ("registration", "hub, place", ofHub, 1000), ("installation", "hub, place", ofHub, 1000), ("departure", "hub, id", ofHub, 1000),
        ("last_outcome_block", "key", keyed("key", LastOutcomes.hubBits), 1000),
        ("outcome_batch", "id", keyed("notification", NotificationKey.sequenceBits), 8),
        ("dead_batch", "notification, first", keyed("notification", NotificationKey.sequenceBits), 8),
        ("notification", "key", keyed("key", NotificationKey.sequenceBits), 1000), ("sequence", "hub", ofHub, 1000),
        ("plan_part", "plan, part", keyed("plan", NotificationKey.sequenceBits), 8),
        ("plan", "key", keyed("key", NotificationKey.sequenceBits), 1000), ("plan_sequence", "hub", ofHub, 1000),
        ("job", "hub, id", ofHub, 1000), ("pruned", "number", ofHub, 1000), ("pruned_telling", "hub", ofHub, 1000),
        ("approval", "number", ofHub, 1000), ("held_removal", "number", ofHub, 1000),
    ]
    private static let ofHub = "hub = ?1"

    /// Condition for a column that has the hub number before this many bits.
    private static func keyed(_ column: String, _ bits: Int64) -> String {
        "\(column) >= ?1 << \(bits) AND \(column) < (?1 + 1) << \(bits)"
    }

    private static let namespace = """
        CREATE TABLE namespace (
            key INTEGER PRIMARY KEY CHECK (key = 1), rules TEXT NOT NULL, last_hub INTEGER NOT NULL
        ) STRICT;
        INSERT INTO namespace VALUES (1, '[]', 0);
        CREATE TABLE hub (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT;
        -- Removed hubs whose rows are still being deleted.
        CREATE TABLE leaving_hub (number INTEGER PRIMARY KEY) STRICT;
        """

    private static let registrations = """
        CREATE TABLE template (
            key INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, content TEXT NOT NULL
        ) STRICT;
        CREATE TABLE registration (
            hub INTEGER NOT NULL, place INTEGER NOT NULL, id TEXT NOT NULL, etag INTEGER NOT NULL,
            expiration INTEGER NOT NULL, updated_at INTEGER NOT NULL, platform TEXT NOT NULL, handle TEXT NOT NULL,
            tags TEXT NOT NULL, template INTEGER, push_variables TEXT, installation TEXT, secondary_tile TEXT,
            PRIMARY KEY (hub, place), UNIQUE (hub, id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE installation (
            hub INTEGER NOT NULL, place INTEGER NOT NULL, expiration INTEGER NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (hub, place)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE departure (
            hub INTEGER NOT NULL, id TEXT NOT NULL, time INTEGER NOT NULL, reason TEXT NOT NULL, detail TEXT,
            PRIMARY KEY (hub, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX departure_by_time ON departure (hub, time);
        CREATE TABLE last_outcome (
            hub INTEGER NOT NULL, place INTEGER NOT NULL, outcome TEXT NOT NULL, PRIMARY KEY (hub, place)
        ) STRICT, WITHOUT ROWID;
        """

    private static let notifications = """
        -- The largest sequence among the deleted notifications of a hub.
        CREATE TABLE sequence (hub INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
        CREATE TABLE notification (
            hub INTEGER NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL, request TEXT NOT NULL,
            idempotency_key TEXT, fingerprint BLOB, state TEXT NOT NULL, is_final INTEGER NOT NULL, tags TEXT,
            enqueued_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, scheduled_for INTEGER, counts TEXT,
            near_misses TEXT, PRIMARY KEY (hub, sequence)
        ) STRICT;
        -- An id consists of 32 random digits, a time and a number. Ordered by time and number, notifications of one transaction
        -- are neighbours in the index. Ordered by the random digits, each would change a page of its own.
        CREATE UNIQUE INDEX notification_by_id ON notification (hub, substr(id, 33), id);
        CREATE UNIQUE INDEX notification_by_key ON notification (hub, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX notification_unfinished ON notification (hub, sequence) WHERE is_final = 0;
        CREATE INDEX notification_by_end ON notification (hub, ended_at, sequence) WHERE is_final = 1;
        CREATE TABLE device_outcome (
            hub INTEGER NOT NULL, sequence INTEGER NOT NULL, ordinal INTEGER NOT NULL, registration TEXT,
            platform TEXT NOT NULL, handle_platform TEXT NOT NULL, handle TEXT NOT NULL, template TEXT, outcome TEXT NOT NULL,
            reason TEXT NOT NULL, explanation TEXT NOT NULL, push_id TEXT, size INTEGER NOT NULL, is_removed INTEGER NOT NULL,
            PRIMARY KEY (hub, sequence, ordinal)
        ) STRICT, WITHOUT ROWID;
        """

    private static let feedbackAndJobs = """
        CREATE INDEX device_outcome_removed ON device_outcome (hub, sequence, ordinal) WHERE is_removed = 1;
        CREATE TABLE job (
            hub INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, is_final INTEGER NOT NULL,
            -- In hundredths of a per cent.
            progress INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (hub, id)
        ) STRICT, WITHOUT ROWID;
        """

    /// Gives each notification a single integer key, in which its position is visible. Ids contain the sequence and need no index.
    private static let notificationKeys = """
        ALTER TABLE notification RENAME TO notification_before;
        DROP INDEX notification_by_id;
        DROP INDEX notification_by_key;
        DROP INDEX notification_unfinished;
        DROP INDEX notification_by_end;
        CREATE TABLE notification (
            key INTEGER PRIMARY KEY, hub INTEGER NOT NULL, id TEXT NOT NULL, request TEXT NOT NULL, idempotency_key TEXT,
            fingerprint BLOB, state TEXT NOT NULL, is_final INTEGER NOT NULL, tags TEXT, enqueued_at INTEGER NOT NULL,
            started_at INTEGER, ended_at INTEGER, scheduled_for INTEGER, counts TEXT, near_misses TEXT
        ) STRICT;
        INSERT INTO notification
        SELECT (hub << \(NotificationKey.sequenceBits)) + sequence, hub, id, request, idempotency_key, fingerprint, state, is_final,
            tags, enqueued_at, started_at, ended_at, scheduled_for, counts, near_misses
        FROM notification_before ORDER BY hub, sequence;
        DROP TABLE notification_before;
        -- SQLite appends the key to the columns of each index.
        CREATE UNIQUE INDEX notification_by_key ON notification (hub, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX notification_unfinished ON notification (hub) WHERE is_final = 0;
        CREATE INDEX notification_by_end ON notification (hub, ended_at) WHERE is_final = 1;
        """

    private static let outcomes = """
        -- Devices of a notification from ordinal first on, encoded by OutcomeBatch.
        CREATE TABLE outcome_batch (
            id INTEGER PRIMARY KEY, notification INTEGER NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL, content BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX outcome_batch_by_notification ON outcome_batch (notification, first);
        -- Again, only the devices whose registrations were removed; the first one has ordinal first.
        CREATE TABLE dead_batch (
            notification INTEGER NOT NULL, first INTEGER NOT NULL, ordinals BLOB NOT NULL, content BLOB NOT NULL,
            PRIMARY KEY (notification, first)
        ) STRICT;
        CREATE TABLE last_outcome_block (key INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT;
        """

    /// Pruned devices with everything needed to restore them, and how far they were reported.
    private static let pruned = """
        CREATE TABLE pruned (
            number INTEGER PRIMARY KEY AUTOINCREMENT, hub INTEGER NOT NULL, time INTEGER NOT NULL, is_restored INTEGER NOT NULL,
            id TEXT NOT NULL, notification TEXT NOT NULL, platform TEXT NOT NULL, handle TEXT NOT NULL, reason TEXT NOT NULL,
            content TEXT NOT NULL
        ) STRICT;
        CREATE INDEX pruned_by_hub ON pruned (hub);
        CREATE INDEX pruned_by_id ON pruned (hub, id);
        CREATE INDEX pruned_by_time ON pruned (hub, time);
        CREATE TABLE pruned_telling (
            hub INTEGER PRIMARY KEY, offered INTEGER NOT NULL, acknowledged INTEGER NOT NULL
        ) STRICT;
        """

    /// Adds the device of a removed registration. For earlier removals, only ids are known.
    private static let departedDevices = """
        ALTER TABLE departure ADD COLUMN platform TEXT;
        ALTER TABLE departure ADD COLUMN handle TEXT;
        ALTER TABLE departure ADD COLUMN expiration INTEGER;
        ALTER TABLE departure ADD COLUMN installation TEXT;
        CREATE INDEX departure_by_handle ON departure (hub, handle) WHERE handle IS NOT NULL;
        CREATE INDEX departure_by_installation ON departure (hub, installation) WHERE installation IS NOT NULL;
        """

    /// Plan keys have the form of notification keys. Notifications refer to the plan that they are bound to.
    private static let plans = """
        CREATE TABLE plan (
            key INTEGER PRIMARY KEY, hub INTEGER NOT NULL, subject TEXT NOT NULL, made_at INTEGER NOT NULL, content TEXT NOT NULL
        ) STRICT;
        -- SQLite appends the key to the columns of the index.
        CREATE INDEX plan_by_subject ON plan (hub, subject);
        -- Devices, encoded by PlannedAudience.
        CREATE TABLE plan_part (
            id INTEGER PRIMARY KEY, plan INTEGER NOT NULL, part INTEGER NOT NULL, content BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX plan_part_by_plan ON plan_part (plan, part);
        -- The number of the last plan of a hub.
        CREATE TABLE plan_sequence (hub INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
        ALTER TABLE notification ADD COLUMN plan INTEGER;
        """

    private static let keysAndValues = """
        CREATE TABLE key_value_space (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, entries INTEGER NOT NULL, bytes INTEGER NOT NULL,
            last_version INTEGER NOT NULL
        ) STRICT;
        -- Values as JSON, and rate-limit slots packed by SlotWindow.
        CREATE TABLE key_value (
            id INTEGER PRIMARY KEY, space INTEGER NOT NULL, kind INTEGER NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL,
            expiration INTEGER, content BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX key_value_by_key ON key_value (space, kind, key);
        CREATE INDEX key_value_by_expiration ON key_value (space, expiration) WHERE expiration IS NOT NULL;
        """

    private static let auditTrail = """
        CREATE TABLE audit_entry (
            sequence INTEGER PRIMARY KEY, time INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
            details TEXT NOT NULL, outcome TEXT NOT NULL, hash BLOB NOT NULL
        ) STRICT;
        -- SQLite appends the sequence to the column of each index.
        CREATE INDEX audit_entry_by_actor ON audit_entry (actor);
        CREATE INDEX audit_entry_by_action ON audit_entry (action);
        -- The last entry appended. Without it, entries removed from the end could not be detected.
        CREATE TABLE audit_end (
            key INTEGER PRIMARY KEY CHECK (key = 1), sequence INTEGER NOT NULL, hash BLOB NOT NULL
        ) STRICT;
        INSERT INTO audit_end VALUES (1, 0, zeroblob(32));
        CREATE TRIGGER audit_entry_unchanged BEFORE UPDATE ON audit_entry BEGIN
            SELECT RAISE(ABORT, 'entries of the audit trail are never changed');
        END;
        CREATE TRIGGER audit_entry_kept BEFORE DELETE ON audit_entry BEGIN
            SELECT RAISE(ABORT, 'entries of the audit trail are never removed');
        END;
        """

    private static let approvals = """
        CREATE TABLE approval (
            number INTEGER PRIMARY KEY AUTOINCREMENT, hub INTEGER NOT NULL, state TEXT NOT NULL, requester TEXT NOT NULL,
            fingerprint BLOB NOT NULL, idempotency_key TEXT, expires_at INTEGER NOT NULL, content TEXT NOT NULL,
            -- What is to be sent; none once that is done, or will not be.
            request TEXT
        ) STRICT;
        CREATE INDEX approval_by_state ON approval (state);
        CREATE INDEX approval_by_fingerprint ON approval (hub, requester, fingerprint);
        CREATE INDEX approval_by_key ON approval (hub, requester, idempotency_key) WHERE idempotency_key IS NOT NULL;
        """

    private static let runs = """
        -- Runs of flows; numbers are never reused.
        CREATE TABLE run (
            number INTEGER PRIMARY KEY AUTOINCREMENT, flow TEXT NOT NULL, key TEXT, state TEXT NOT NULL, is_final INTEGER NOT NULL,
            trigger TEXT NOT NULL, queued_at INTEGER NOT NULL, ended_at INTEGER, content TEXT NOT NULL, report TEXT
        ) STRICT;
        CREATE UNIQUE INDEX run_by_key ON run (flow, key) WHERE key IS NOT NULL;
        CREATE INDEX run_by_flow ON run (flow, number);
        CREATE INDEX run_unfinished ON run (number) WHERE is_final = 0;
        CREATE INDEX run_by_end ON run (ended_at) WHERE is_final = 1;
        -- heard: due times up to it have been handled. If it is null, a schedule starts with the next due time.
        CREATE TABLE schedule (
            name TEXT PRIMARY KEY, is_configured INTEGER NOT NULL, is_paused INTEGER NOT NULL, heard INTEGER, content TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- Hub events that no flow has been started for yet.
        CREATE TABLE hub_event (
            number INTEGER PRIMARY KEY AUTOINCREMENT, hub TEXT NOT NULL, kind TEXT NOT NULL, time INTEGER NOT NULL, content TEXT NOT NULL
        ) STRICT;
        """

    private static let hubNames = """
        -- The hub created last keeps its name.
        UPDATE hub SET name = name || '-' || number
        WHERE EXISTS (SELECT 1 FROM hub AS other WHERE lower(other.name) = lower(hub.name) AND other.number > hub.number);
        CREATE UNIQUE INDEX hub_by_name ON hub (lower(name));
        """

    private static let providerTokens = """
        CREATE TABLE provider_token (
            key TEXT PRIMARY KEY, token TEXT NOT NULL, issued_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// Adds the key by which readable payloads are sealed; empty for those sealed before it was recorded.
    private static let payloadKeys = """
        ALTER TABLE secure_payload ADD COLUMN key_mark BLOB NOT NULL DEFAULT x'';
        CREATE INDEX secure_payload_by_key ON secure_payload (key_mark) WHERE ending IS NULL;
        """

    private static let backend = """
        CREATE TABLE account (
            user TEXT PRIMARY KEY COLLATE tag, username TEXT NOT NULL, cost INTEGER NOT NULL, salt BLOB NOT NULL,
            digest BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE session (
            digest BLOB PRIMARY KEY, username TEXT NOT NULL, expiration INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX session_by_expiration ON session (expiration);
        CREATE TABLE secure_payload (
            id TEXT PRIMARY KEY, sender TEXT NOT NULL, addressee TEXT NOT NULL COLLATE tag, expiration INTEGER NOT NULL,
            maximum_reads INTEGER, sealed BLOB, granted_reads INTEGER NOT NULL, ending TEXT, reads TEXT NOT NULL
        ) STRICT;
        CREATE INDEX secure_payload_readable ON secure_payload (addressee) WHERE ending IS NULL;
        CREATE INDEX secure_payload_by_expiration ON secure_payload (expiration);
        """
}

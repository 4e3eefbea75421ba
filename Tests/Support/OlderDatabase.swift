/// Databases written by older versions, as SQL. Every later version must read their contents. Never change an entry.
package enum OlderDatabase {
    /// From the version whose last migration is "sends to plans". The keys in it are not in use anywhere.
    package static let sendsToPlans = #"""
        PRAGMA application_id = 1349863535;
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        CREATE TABLE namespace (
            key INTEGER PRIMARY KEY CHECK (key = 1), rules TEXT NOT NULL, last_hub INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE hub (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE leaving_hub (number INTEGER PRIMARY KEY) STRICT;
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
            hub INTEGER NOT NULL, id TEXT NOT NULL, time INTEGER NOT NULL, reason TEXT NOT NULL, detail TEXT, platform TEXT, handle TEXT, expiration INTEGER, installation TEXT,
            PRIMARY KEY (hub, id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE sequence (hub INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
        CREATE TABLE account (
            user TEXT PRIMARY KEY COLLATE tag, username TEXT NOT NULL, cost INTEGER NOT NULL, salt BLOB NOT NULL,
            digest BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE session (
            digest BLOB PRIMARY KEY, username TEXT NOT NULL, expiration INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE secure_payload (
            id TEXT PRIMARY KEY, sender TEXT NOT NULL, addressee TEXT NOT NULL COLLATE tag, expiration INTEGER NOT NULL,
            maximum_reads INTEGER, sealed BLOB, granted_reads INTEGER NOT NULL, ending TEXT, reads TEXT NOT NULL
        , key_mark BLOB NOT NULL DEFAULT x'') STRICT;
        CREATE TABLE job (
            hub INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, is_final INTEGER NOT NULL,
            -- In hundredths of a per cent.
            progress INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (hub, id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE notification (
            key INTEGER PRIMARY KEY, hub INTEGER NOT NULL, id TEXT NOT NULL, request TEXT NOT NULL, idempotency_key TEXT,
            fingerprint BLOB, state TEXT NOT NULL, is_final INTEGER NOT NULL, tags TEXT, enqueued_at INTEGER NOT NULL,
            started_at INTEGER, ended_at INTEGER, scheduled_for INTEGER, counts TEXT, near_misses TEXT
        , remarks TEXT, origin TEXT, holds BLOB, plan INTEGER) STRICT;
        CREATE TABLE provider_token (
            key TEXT PRIMARY KEY, token TEXT NOT NULL, issued_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE outcome_batch (
            id INTEGER PRIMARY KEY, notification INTEGER NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL, content BLOB NOT NULL
        ) STRICT;
        CREATE TABLE dead_batch (
            notification INTEGER NOT NULL, first INTEGER NOT NULL, ordinals BLOB NOT NULL, content BLOB NOT NULL,
            PRIMARY KEY (notification, first)
        ) STRICT;
        CREATE TABLE last_outcome_block (key INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT;
        CREATE TABLE pruned (
            number INTEGER PRIMARY KEY AUTOINCREMENT, hub INTEGER NOT NULL, time INTEGER NOT NULL, is_restored INTEGER NOT NULL,
            id TEXT NOT NULL, notification TEXT NOT NULL, platform TEXT NOT NULL, handle TEXT NOT NULL, reason TEXT NOT NULL,
            content TEXT NOT NULL
        ) STRICT;
        CREATE TABLE pruned_telling (
            hub INTEGER PRIMARY KEY, offered INTEGER NOT NULL, acknowledged INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE key_value_space (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, entries INTEGER NOT NULL, bytes INTEGER NOT NULL,
            last_version INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE key_value (
            id INTEGER PRIMARY KEY, space INTEGER NOT NULL, kind INTEGER NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL,
            expiration INTEGER, content BLOB NOT NULL
        ) STRICT;
        CREATE TABLE audit_entry (
            sequence INTEGER PRIMARY KEY, time INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
            details TEXT NOT NULL, outcome TEXT NOT NULL, hash BLOB NOT NULL
        ) STRICT;
        CREATE TABLE audit_end (
            key INTEGER PRIMARY KEY CHECK (key = 1), sequence INTEGER NOT NULL, hash BLOB NOT NULL
        ) STRICT;
        CREATE TABLE approval (
            number INTEGER PRIMARY KEY AUTOINCREMENT, hub INTEGER NOT NULL, state TEXT NOT NULL, requester TEXT NOT NULL,
            fingerprint BLOB NOT NULL, idempotency_key TEXT, expires_at INTEGER NOT NULL, content TEXT NOT NULL,
            -- What is to be sent; none once that is done, or will not be.
            request TEXT
        ) STRICT;
        CREATE TABLE run (
            number INTEGER PRIMARY KEY AUTOINCREMENT, flow TEXT NOT NULL, key TEXT, state TEXT NOT NULL, is_final INTEGER NOT NULL,
            trigger TEXT NOT NULL, queued_at INTEGER NOT NULL, ended_at INTEGER, content TEXT NOT NULL, report TEXT
        ) STRICT;
        CREATE TABLE schedule (
            name TEXT PRIMARY KEY, is_configured INTEGER NOT NULL, is_paused INTEGER NOT NULL, heard INTEGER, content TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE hub_event (
            number INTEGER PRIMARY KEY AUTOINCREMENT, hub TEXT NOT NULL, kind TEXT NOT NULL, time INTEGER NOT NULL, content TEXT NOT NULL
        ) STRICT;
        CREATE TABLE plan (
            key INTEGER PRIMARY KEY, hub INTEGER NOT NULL, subject TEXT NOT NULL, made_at INTEGER NOT NULL, content TEXT NOT NULL
        ) STRICT;
        CREATE TABLE plan_part (
            id INTEGER PRIMARY KEY, plan INTEGER NOT NULL, part INTEGER NOT NULL, content BLOB NOT NULL
        ) STRICT;
        CREATE TABLE plan_sequence (hub INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
        INSERT INTO grdb_migrations (identifier) VALUES ('tables');
        INSERT INTO grdb_migrations (identifier) VALUES ('feedback and jobs');
        INSERT INTO grdb_migrations (identifier) VALUES ('keys of notifications, names of hubs');
        INSERT INTO grdb_migrations (identifier) VALUES ('tokens for push services');
        INSERT INTO grdb_migrations (identifier) VALUES ('installations of devices');
        INSERT INTO grdb_migrations (identifier) VALUES ('users of templates');
        INSERT INTO grdb_migrations (identifier) VALUES ('keys of secure payloads');
        INSERT INTO grdb_migrations (identifier) VALUES ('outcomes in batches');
        INSERT INTO grdb_migrations (identifier) VALUES ('remarks on notifications');
        INSERT INTO grdb_migrations (identifier) VALUES ('devices that were pruned');
        INSERT INTO grdb_migrations (identifier) VALUES ('keys and values, an audit trail');
        INSERT INTO grdb_migrations (identifier) VALUES ('origins of notifications');
        INSERT INTO grdb_migrations (identifier) VALUES ('devices that are held');
        INSERT INTO grdb_migrations (identifier) VALUES ('sends that wait for leave');
        INSERT INTO grdb_migrations (identifier) VALUES ('runs of flows');
        INSERT INTO grdb_migrations (identifier) VALUES ('whose registrations left');
        INSERT INTO grdb_migrations (identifier) VALUES ('plans');
        INSERT INTO grdb_migrations (identifier) VALUES ('sends to plans');
        INSERT INTO namespace (key, rules, last_hub) VALUES (1, '[{"name":"RootManageSharedAccessKey","rights":["Listen","Manage","Send"],"primary":"mezGISH66/3qYTspCpJFZmQOVrnFYcZjPHFVYA1dQCE=","secondary":"+n5XMER9F1Bq00EVe6ePERlpvQdcJaL4fW0+VquCgN0=","created":1795692267627,"modified":1795692267627}]', 2);
        INSERT INTO hub (number, name, description, created_at, updated_at) VALUES (1, 'hub', '{"rules":[{"name":"DefaultListenSharedAccessSignature","rights":["Listen"],"primary":"jTjtBOdMGjjtbBiPZo/uk8LZN22cscVeRykNT6vfPBo=","secondary":"kMgs/RjQZvuiuAnfLW6y+eEexa7kyBM5+zas4Cp4QGs=","created":1795692267629,"modified":1795692267629},{"name":"DefaultFullSharedAccessSignature","rights":["Listen","Manage","Send"],"primary":"7EB5X6Gupl4+JpnZygLtCq4RnPPQdC307rC21KaZ8FA=","secondary":"08MPUWRDbiXdd6GcfQp7P2YustmXbXpy6bw5C4auUKA=","created":1795692267629,"modified":1795692267629},{"name":"sender","rights":["Send"],"primary":"tImV8AdhAO3laacKJSsahWp0B/byS5JcxaJ+S6WcMS0=","secondary":"xQqyAZN2txEtNJsZSTGcLW4vU+xbyz7PgPCEh2FHkL4=","created":1795692268128,"modified":1795692268128}]}', 1795692267629, 1795692268128);
        INSERT INTO hub (number, name, description, created_at, updated_at) VALUES (2, 'news', '{"rules":[{"name":"DefaultListenSharedAccessSignature","rights":["Listen"],"primary":"WALMt1o4m4hZV9WXu3JNsB+SGPcVcvhKuEwjuFMwZmU=","secondary":"6mHbIjxikp0QFDL22AAv4XIX3joA8r+S/837V7nrG6Q=","created":1795692268211,"modified":1795692268211},{"name":"DefaultFullSharedAccessSignature","rights":["Listen","Manage","Send"],"primary":"TFGlHOJAU7yjodNQquWrcpZ43DbnQnyTZKkeRAoYSZQ=","secondary":"qBWhlSAwRBC1DICOk/Aiu9iRbr75a14RRBNJ2M/PA/k=","created":1795692268211,"modified":1795692268211}]}', 1795692268211, 1795692268211);
        INSERT INTO template (key, digest, content) VALUES (1, X'4DF55473CC2FB204BFDF83336037357A185143663EBFAAD7565021DEB3E719EF', '{"platform":"apns","body":"{\"aps\": {\"alert\": \"$(message)\"}}","name":"news"}');
        INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation, secondary_tile) VALUES (1, 0, '2791930577995350061-1383940673593449736-1', 1, 253402300799999, 1795692267829, 'apns', '10112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF', 'sports,número,$InstallationId:{ana-1},$UserId:{ana}', NULL, '{"locale":"pt-PT"}', 'ana-1', NULL);
        INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation, secondary_tile) VALUES (1, 1, '8972636451410301954-4679732385664976843-1', 1, 253402300799999, 1795692267829, 'apns', '10112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF', 'sports,número,news,$InstallationId:{ana-1},$UserId:{ana}', 1, '{"locale":"pt-PT"}', 'ana-1', NULL);
        INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation, secondary_tile) VALUES (1, 2, '5859471172711219637-4543063212207554999-1', 1, 253402300799999, 1795692267859, 'apns', '20112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF', 'sports,número,$InstallationId:{ana-2},$UserId:{ana}', NULL, '{"locale":"pt-PT"}', 'ana-2', NULL);
        INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation, secondary_tile) VALUES (1, 3, '6056296082072207378-1159482064926099322-1', 1, 253402300799999, 1795692267859, 'apns', '20112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF', 'sports,número,news,$InstallationId:{ana-2},$UserId:{ana}', 1, '{"locale":"pt-PT"}', 'ana-2', NULL);
        INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation, secondary_tile) VALUES (1, 6, '1848101383406986778-5075904732805321141-1', 1, 253402300799999, 1795692267888, 'apns', '40112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF', 'music,número,$InstallationId:{ana-4},$UserId:{ana}', NULL, '{"locale":"pt-PT"}', 'ana-4', NULL);
        INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation, secondary_tile) VALUES (1, 7, '3977592270523374489-9494303138370276748-1', 1, 253402300799999, 1795692267888, 'apns', '40112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF', 'music,número,news,$InstallationId:{ana-4},$UserId:{ana}', 1, '{"locale":"pt-PT"}', 'ana-4', NULL);
        INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation, secondary_tile) VALUES (1, 8, '8026604102573314966-3667422170048932185-1', 1, 253402300799999, 1795692267904, 'apns', '90112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF', 'alone', NULL, NULL, NULL, NULL);
        INSERT INTO installation (hub, place, expiration, content) VALUES (1, 0, 253402300799999, '{"id":"ana-1","handle":["apns","10112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF"],"user":"ana","tags":["sports","número"],"variables":{"locale":"pt-PT"},"templates":{"news":{"body":"{\"aps\": {\"alert\": \"$(message)\"}}","tags":["news"]}},"updated":1795692267829}');
        INSERT INTO installation (hub, place, expiration, content) VALUES (1, 1, 253402300799999, '{"id":"ana-2","handle":["apns","20112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF"],"user":"ana","tags":["sports","número"],"variables":{"locale":"pt-PT"},"templates":{"news":{"body":"{\"aps\": {\"alert\": \"$(message)\"}}","tags":["news"]}},"updated":1795692267859}');
        INSERT INTO installation (hub, place, expiration, content) VALUES (1, 3, 253402300799999, '{"id":"ana-4","handle":["apns","40112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF"],"user":"ana","tags":["music","número"],"variables":{"locale":"pt-PT"},"templates":{"news":{"body":"{\"aps\": {\"alert\": \"$(message)\"}}","tags":["news"]}},"updated":1795692267888}');
        INSERT INTO departure (hub, id, time, reason, detail, platform, handle, expiration, installation) VALUES (1, '4779443396634865580-4312840106219061563-1', 1795692267920, 'deleted', NULL, 'apns', '30112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF', 253402300799999, 'ana-3');
        INSERT INTO departure (hub, id, time, reason, detail, platform, handle, expiration, installation) VALUES (1, '8455118580124482427-7958102559779309636-1', 1795692267920, 'deleted', NULL, 'apns', '30112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF', 253402300799999, 'ana-3');
        INSERT INTO account (user, username, cost, salt, digest) VALUES ('username:ana', 'ana', 16, X'10FE62C98F6DDE3C8E6803CF3D7AC137', X'6821AAA6685A4264553F844EE682F3688718E84FE1EAE7FF060C864DCC6EA241');
        INSERT INTO secure_payload (id, sender, addressee, expiration, maximum_reads, sealed, granted_reads, ending, reads, key_mark) VALUES ('201376544', 'username:ana', 'username:ana', 1795695868789, NULL, X'C9FA13B6EFCD3F1F553C61CC637D6D2CE83682A02456E5AAB5706ABEECD729370BF358', 0, NULL, '[]', X'4B395665D32A9093');
        INSERT INTO notification (key, hub, id, request, idempotency_key, fingerprint, state, is_final, tags, enqueued_at, started_at, ended_at, scheduled_for, counts, near_misses, remarks, origin, holds, plan) VALUES (17592186044417, 1, 'dd341a6c1db7e6c8d6f72ca368a7042c-20261126112428-1-1', '{"tags":"sports","template":{"message":"Final score 3:2"}}', 'e7f54520-5ab2-4e2f-9f61-8393689b6153', X'617448F7DD3F219F45E672A251BBE78C610F472EACD704B67FEBCA97A57E21D7', 'Completed', 1, 'sports', 1795692268317, 1795692268319, 1795692268349, NULL, '{"apns":{"Success":2}}', NULL, NULL, NULL, NULL, NULL);
        INSERT INTO notification (key, hub, id, request, idempotency_key, fingerprint, state, is_final, tags, enqueued_at, started_at, ended_at, scheduled_for, counts, near_misses, remarks, origin, holds, plan) VALUES (17592186044418, 1, '3556517834d2dc4669705f90f643f00c-20261126112428-2-1', '{"tags":"sports","template":{"message":"Good morning"},"leave":{"devices":2,"words":"the 2 that anybody may reach without leave"}}', '1ba910c0-d28f-48ac-81db-558cb1701ce1', X'4F20F018D200EBE20EB7BC1969A491B761EB6FD34FB21F4A4F7C9516928D0F2F', 'Scheduled', 0, 'sports', 1795692268476, NULL, NULL, 1796232268000, NULL, NULL, NULL, NULL, NULL, NULL);
        INSERT INTO notification (key, hub, id, request, idempotency_key, fingerprint, state, is_final, tags, enqueued_at, started_at, ended_at, scheduled_for, counts, near_misses, remarks, origin, holds, plan) VALUES (17592186044419, 1, 'f76535e5ae6d0f86e94289b0f5c3a336-20261126112428-3-1', '{"tags":"username:ana","native":{"wns":{"text":"201376544","headers":[["X-WNS-Type","wns/raw"]]},"browser":{"text":"{\"secureId\":\"201376544\"}"},"apns":{"text":"{\"aps\":{\"content-available\":1},\"secureId\":\"201376544\"}","headers":[["apns-push-type","background"],["apns-priority","5"]]},"fcmv1":{"text":"{\"message\":{\"data\":{\"secureId\":\"201376544\"}}}"},"gcm":{"text":"{\"data\":{\"secureId\":\"201376544\"}}"}},"expiration":1795695868789}', NULL, NULL, 'NoTargetFound', 1, 'username:ana', 1795692268791, 1795692268792, 1795692268793, NULL, NULL, '["no registration has the tag \"username:ana\""]', NULL, NULL, NULL, NULL);
        INSERT INTO notification (key, hub, id, request, idempotency_key, fingerprint, state, is_final, tags, enqueued_at, started_at, ended_at, scheduled_for, counts, near_misses, remarks, origin, holds, plan) VALUES (17592186044420, 1, 'a021aad56ffeded5a0126da7c5983000-20261126112428-4-1', '{"tags":"sports","template":{"message":"Hello"}}', 'r-1/1/62c5805f148a', X'62C5805F148A4D64024CB9C7CC9600801DD2E3157BE535F6154FFE7746CD6FD9', 'Completed', 1, 'sports', 1795692268898, 1795692268899, 1795692268910, NULL, '{"apns":{"Success":2}}', NULL, NULL, '["flow:greet"]', NULL, NULL);
        INSERT INTO outcome_batch (id, notification, first, count, content) VALUES (1, 17592186044417, 0, 2, X'0203046E657773001C616363657074656420627920746865207075736820736572766963650101010101000102250201003C8B9917A2010000005D025408415035857CCBC7737BCFBFF14005616E612D3110112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF33361FE2E87A8A7AAD17D6CC1060A985005D120081F232490C547A475B7BCB4E171005616E612D3220112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF38EEECCF02608BD7AF3C8454E264C065F39FE72151A842E0');
        INSERT INTO outcome_batch (id, notification, first, count, content) VALUES (2, 17592186044420, 0, 2, X'0203046E657773001C6163636570746564206279207468652070757368207365727669636501010101010001021B0201006D8D9917A2010000005D025408415035857CCBC7737BCFBFF14005616E612D3110112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF6A02A5391AC88482A1A3020C57077365005D120081F232490C547A475B7BCB4E171005616E612D3220112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF058A0B208E3F87538C4CE59AE2BB1E3CE151143BDCDDFD7F');
        INSERT INTO last_outcome_block (key, content) VALUES (4194304, X'00010001');
        INSERT INTO audit_entry (sequence, time, actor, action, subject, details, outcome, hash) VALUES (1, 1795692268003, 'owner', 'user.create', 'ana', '[]', 'succeeded', X'32C5FBC3FB315054EE8844823B0583F3DCF398C9FE1DC18BED429C6B44539DDF');
        INSERT INTO audit_entry (sequence, time, actor, action, subject, details, outcome, hash) VALUES (2, 1795692268129, 'owner', 'key.create', 'key:hub/sender', '[["rights","Send"]]', 'succeeded', X'B55ECB948208FD410CDE41D4EEE87BD4502E0A7717996F2975CF7580045CFD89');
        INSERT INTO audit_entry (sequence, time, actor, action, subject, details, outcome, hash) VALUES (3, 1795692268213, 'owner', 'hub.create', 'news', '[]', 'succeeded', X'8CB6B27013D4070F6DD31392644FF33681193E41317AD188320714A0BFDF123B');
        INSERT INTO audit_entry (sequence, time, actor, action, subject, details, outcome, hash) VALUES (4, 1795692268218, 'owner', 'key.reveal', 'keys of the hub news', '[]', 'succeeded', X'7FBA36CB5D1245430BB49AA4B32DC7AF670A0A87FAB3BA27A14451CF0F4CC78F');
        INSERT INTO audit_entry (sequence, time, actor, action, subject, details, outcome, hash) VALUES (5, 1795692268319, 'owner', 'notification.send', 'dd341a6c1db7e6c8d6f72ca368a7042c-20261126112428-1-1', '[["audience","tags sports"],["content","templates with message (15 bytes)"],["hub","hub"],["interface","hub"]]', 'succeeded', X'773B12287AA6D8AE00789707AAB3C7E9F98481EF3879F432C988C756F3A4258F');
        INSERT INTO audit_entry (sequence, time, actor, action, subject, details, outcome, hash) VALUES (6, 1795692268477, 'owner', 'notification.send', '3556517834d2dc4669705f90f643f00c-20261126112428-2-1', '[["at","2026-12-02T17:24:28.000Z"],["audience","tags sports"],["content","templates with message (12 bytes)"],["hub","hub"],["interface","hub"]]', 'succeeded', X'732720D04A448D230788C196C09CE4F5B4C91A8F5324F61A53D4D499919DB6D3');
        INSERT INTO audit_entry (sequence, time, actor, action, subject, details, outcome, hash) VALUES (7, 1795692268677, 'owner', 'approval.request', 'a-1', '[["hub","hub"],["words","a-1: 3 devices, everyone, asked for by owner; more than the 2 that anybody may reach without leave"]]', 'succeeded', X'7A87C6B6DE94B1C2E4704DF9640A3BB1BB674A1D00519BA3D70C0EC11D7A5E2A');
        INSERT INTO audit_entry (sequence, time, actor, action, subject, details, outcome, hash) VALUES (8, 1795692268890, 'owner', 'run.start', 'greet', '[["run","r-1"]]', 'succeeded', X'C880A0E7D6BA595E7A178BB911995A7137F822F1DA9B10A5CE9299A94ACE4386');
        INSERT INTO audit_end (key, sequence, hash) VALUES (1, 8, X'C880A0E7D6BA595E7A178BB911995A7137F822F1DA9B10A5CE9299A94ACE4386');
        INSERT INTO approval (number, hub, state, requester, fingerprint, idempotency_key, expires_at, content, request) VALUES (1, 1, 'pending', 'owner', X'55A541B541D2BE05C131B91E30563FD280E15884A8AB0400C72F71B04F359BF2', 'cc85aadf-21fe-4525-950e-a61e99b4c41f', 1795778668676, '{"hub":"hub","created":1795692268676,"sendKey":"approval-c9050e74-c4d6-4556-8741-60ed54e49cc6","audience":"everyone","content":"templates with message (12 bytes)","ceiling":[2,"the server"],"reach":{"apns":3}}', '{"everyone":true,"template":{"message":"To everybody"}}');
        INSERT INTO run (number, flow, key, state, is_final, trigger, queued_at, ended_at, content, report) VALUES (1, 'greet', NULL, 'completed', 1, 'command', 1795692268888, 1795692268915, '{"script":"scripts/greet.lua","trigger":{"kind":"command","by":"owner"},"arguments":{"to":"sports"},"guarantee":"at-most-once","attempts":1,"version":"7bd5f4","started":1795692268890}', '{"steps":[{"name":"greet","depth":0,"status":"passed","began":1795692268897,"ended":1795692268913,"notifications":["a021aad56ffeded5a0126da7c5983000-20261126112428-4-1"]}],"log":[[1795692268913,"info","scripts/greet.lua:4: 2\tgreeted"]],"notifications":["a021aad56ffeded5a0126da7c5983000-20261126112428-4-1"]}');
        INSERT INTO schedule (name, is_configured, is_paused, heard, content) VALUES ('greet', 1, 0, 1795692267645, '{"flow":"greet","cron":"30 9 * * MON-FRI","zone":"Europe/Lisbon","missed":"skip","arguments":{}}');
        INSERT INTO plan (key, hub, subject, made_at, content) VALUES (17592186044417, 1, 'template sports', 1795692268588, '{"tags":"sports","template":{"message":"Final score"},"members":2,"report":{"plannedAt":"2026-11-26T11:24:28.588Z","expiresAt":"2026-12-03T11:24:28.588Z","plannedBy":"owner","audience":{"tagExpression":"sports"},"content":{"message":{"message":"Final score"}},"matched":4,"total":2,"duplicates":0,"refused":0,"platforms":{"apns":2},"tags":[{"name":"news","devices":2},{"name":"número","devices":2},{"name":"sports","devices":2}],"furtherTags":0,"locales":[{"name":"pt-PT","devices":2}],"templates":[{"platform":"apns","kind":"template","template":"news","devices":2,"smallestBytes":33,"largestBytes":33,"refused":0}],"furtherTemplates":0,"groups":[{"platform":"apns","kind":"template","template":"news","devices":2,"payload":"{\"aps\": {\"alert\": \"Final score\"}}","bytes":33,"limit":4096,"tooLarge":false}],"furtherGroups":0}}');
        INSERT INTO plan_part (id, plan, part, content) VALUES (1, 17592186044417, 0, X'010461706E730D046E657773219C0F50E32AE7B00802010001025408415035857CCBC7737BCFBFF140020001120081F232490C547A475B7BCB4E1710');
        INSERT INTO plan_sequence (hub, last) VALUES (1, 1);
        DELETE FROM sqlite_sequence;
        INSERT INTO sqlite_sequence (name, seq) VALUES ('approval', 1);
        INSERT INTO sqlite_sequence (name, seq) VALUES ('run', 1);
        CREATE INDEX departure_by_time ON departure (hub, time);
        CREATE INDEX session_by_expiration ON session (expiration);
        CREATE INDEX secure_payload_readable ON secure_payload (addressee) WHERE ending IS NULL;
        CREATE INDEX secure_payload_by_expiration ON secure_payload (expiration);
        CREATE UNIQUE INDEX notification_by_key ON notification (hub, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX notification_unfinished ON notification (hub) WHERE is_final = 0;
        CREATE INDEX notification_by_end ON notification (hub, ended_at) WHERE is_final = 1;
        CREATE UNIQUE INDEX hub_by_name ON hub (lower(name));
        CREATE INDEX registration_by_template ON registration (template) WHERE template IS NOT NULL;
        CREATE INDEX secure_payload_by_key ON secure_payload (key_mark) WHERE ending IS NULL;
        CREATE UNIQUE INDEX outcome_batch_by_notification ON outcome_batch (notification, first);
        CREATE INDEX pruned_by_hub ON pruned (hub);
        CREATE INDEX pruned_by_id ON pruned (hub, id);
        CREATE INDEX pruned_by_time ON pruned (hub, time);
        CREATE UNIQUE INDEX key_value_by_key ON key_value (space, kind, key);
        CREATE INDEX key_value_by_expiration ON key_value (space, expiration) WHERE expiration IS NOT NULL;
        CREATE INDEX audit_entry_by_actor ON audit_entry (actor);
        CREATE INDEX audit_entry_by_action ON audit_entry (action);
        CREATE TRIGGER audit_entry_unchanged BEFORE UPDATE ON audit_entry BEGIN
            SELECT RAISE(ABORT, 'entries of the audit trail are never changed');
        END;
        CREATE TRIGGER audit_entry_kept BEFORE DELETE ON audit_entry BEGIN
            SELECT RAISE(ABORT, 'entries of the audit trail are never removed');
        END;
        CREATE INDEX approval_by_state ON approval (state);
        CREATE INDEX approval_by_fingerprint ON approval (hub, requester, fingerprint);
        CREATE INDEX approval_by_key ON approval (hub, requester, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE UNIQUE INDEX run_by_key ON run (flow, key) WHERE key IS NOT NULL;
        CREATE INDEX run_by_flow ON run (flow, number);
        CREATE INDEX run_unfinished ON run (number) WHERE is_final = 0;
        CREATE INDEX run_by_end ON run (ended_at) WHERE is_final = 1;
        CREATE INDEX departure_by_handle ON departure (hub, handle) WHERE handle IS NOT NULL;
        CREATE INDEX departure_by_installation ON departure (hub, installation) WHERE installation IS NOT NULL;
        CREATE INDEX plan_by_subject ON plan (hub, subject);
        CREATE UNIQUE INDEX plan_part_by_plan ON plan_part (plan, part);
        CREATE INDEX notification_by_plan ON notification (plan) WHERE plan IS NOT NULL;
        """#
}

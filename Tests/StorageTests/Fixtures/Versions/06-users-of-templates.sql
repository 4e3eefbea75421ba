-- Schema version 6: the last migration is "users of templates".
-- Payload key: 0e3fbcefeffd7904f67e34b1a4e78aa53afd2ccb5a492b2c02a2fb821c999a91
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
    hub INTEGER NOT NULL, id TEXT NOT NULL, time INTEGER NOT NULL, reason TEXT NOT NULL, detail TEXT,
    PRIMARY KEY (hub, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE last_outcome (
    hub INTEGER NOT NULL, place INTEGER NOT NULL, outcome TEXT NOT NULL, PRIMARY KEY (hub, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE sequence (hub INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
CREATE TABLE device_outcome (
    hub INTEGER NOT NULL, sequence INTEGER NOT NULL, ordinal INTEGER NOT NULL, registration TEXT,
    platform TEXT NOT NULL, handle_platform TEXT NOT NULL, handle TEXT NOT NULL, template TEXT, outcome TEXT NOT NULL,
    reason TEXT NOT NULL, explanation TEXT NOT NULL, push_id TEXT, size INTEGER NOT NULL, is_removed INTEGER NOT NULL, installation TEXT,
    PRIMARY KEY (hub, sequence, ordinal)
) STRICT, WITHOUT ROWID;
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
) STRICT;
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
) STRICT;
CREATE TABLE provider_token (
    key TEXT PRIMARY KEY, token TEXT NOT NULL, issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO grdb_migrations (identifier) VALUES
    ('tables'),
    ('feedback and jobs'),
    ('keys of notifications, names of hubs'),
    ('tokens for push services'),
    ('installations of devices'),
    ('users of templates');
INSERT INTO namespace (key, rules, last_hub) VALUES
    (1, '[{"name":"RootManageSharedAccessKey","rights":["Listen","Manage","Send"],"primary":"RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR=","secondary":"rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr=","created":1767603540000,"modified":1767603540000}]', 4);
INSERT INTO hub (number, name, description, created_at, updated_at) VALUES
    (1, 'hub', '{"rules":[{"name":"DefaultFullSharedAccessSignature","rights":["Listen","Manage","Send"],"primary":"FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF=","secondary":"fffffffffffffffffffffffffffffffffffffffffff=","created":1767603550000,"modified":1767603550000},{"name":"sender","rights":["Send"],"primary":"SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS=","secondary":"sssssssssssssssssssssssssssssssssssssssssss=","created":1767603560000,"modified":1767603570000}],"ttl":[7776000,0],"credentials":{"Apns":[["Token","credential-of-apns"],["KeyId","KEY1"]]},"metadata":"team=ops; größe=1","quotas":{"DailyOperations":100,"DailyMaxActiveDevices":7}}', 1767603550000, 1767603570000),
    (2, 'News/été', '{"rules":[]}', 1767603580000, 1767603590000);
INSERT INTO leaving_hub (number) VALUES
    (4);
INSERT INTO template (key, digest, content) VALUES
    (1, X'39DE24396FE236F148B0999CA05B4AC13CF89211D9DAD6DF5FF8CC5F8172E2F7', '{"platform":"apns","body":"{\"aps\":{\"alert\":\"$(message:{é 🎉})\"}}","name":"alert","headers":[["apns-push-type","alert"]],"expiry":"$(expiry)"}'),
    (2, X'81D0C4A966050A99429B96740EEC035193C9F24B806295319FB6C3B11B7FE122', '{"platform":"wns","body":"<tile><visual><binding template=\"TileText\"><text id=\"1\">$(m)</text></binding></visual></tile>","name":"t","headers":[["X-WNS-Type","wns/tile"]]}'),
    (3, X'BDD9B1EDABBFC3911F10F07C897BE113D0F99E77A9CF7850E2F0E328740C52F8', '{"platform":"fcmv1","body":"{\"message\":{\"data\":{\"a\":\"#(count)\"}}}"}');
INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation, secondary_tile) VALUES
    (1, 0, '1000001-2000001-1', 3, 253402300799999, 1767603601000, 'apns', '0000000000000000000000000000000000000000000000000000000000000001', 'News,größe,$InstallationId:{ana-1},$UserId:{Ana}', NULL, '{"locale":"pt-PT"}', 'ana-1', NULL),
    (1, 1, '1000002-2000002-1', 3, 253402300799999, 1767603601000, 'apns', '0000000000000000000000000000000000000000000000000000000000000001', 'News,größe,alerts,$InstallationId:{ana-1},$UserId:{Ana}', 1, '{"locale":"pt-PT"}', 'ana-1', NULL),
    (1, 2, '1000003-2000003-1', 1, 1767690000000, 1767603602000, 'wns', 'https://wns.example/?token=tile', 'tile,$InstallationId:{pc}', NULL, NULL, 'pc', 'weather'),
    (1, 3, '1000004-2000004-1', 1, 1767690000000, 1767603602000, 'wns', 'https://wns.example/?token=tile', 'tile,t,$InstallationId:{pc}', 2, NULL, 'pc', 'weather'),
    (1, 5, '2791930577995350061-1383940673593449736-1', 1, 1775379600000, 1767603603000, 'browser', 'https://push.example/send/1' || char(10) || 'BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' || char(10) || 'aaaaaaaaaaaaaaaaaaaaaa', 'web', NULL, NULL, NULL, NULL),
    (1, 6, '1000006-2000006-1', 2, 253402300799999, 1767603604000, 'baidu', '17-8' || char(10) || '9-1', '', NULL, NULL, NULL, NULL),
    (2, 0, '1000001-2000001-1', 1, 253402300799999, 1767603605000, 'fcmv1', 'fcm:token-1', 'News', 3, NULL, NULL, NULL),
    (4, 0, '1000001-2000001-1', 1, 253402300799999, 1767603601000, 'apns', '0000000000000000000000000000000000000000000000000000000000000001', '', NULL, NULL, NULL, NULL);
INSERT INTO installation (hub, place, expiration, content) VALUES
    (1, 0, 253402300799999, '{"id":"ana-1","handle":["apns","0000000000000000000000000000000000000000000000000000000000000001"],"user":"Ana","tags":["News","größe"],"variables":{"locale":"pt-PT"},"templates":{"alert":{"body":"{\"aps\":{\"alert\":\"$(message:{é 🎉})\"}}","headers":[["apns-push-type","alert"]],"expiry":"$(expiry)","tags":["alerts"]}},"updated":1767603601000}'),
    (1, 2, 1767690000000, '{"id":"pc","handle":["wns","https://wns.example/?token=a%2fb"],"expired":true,"expiration":1767690000000,"tags":["News"],"tiles":{"weather":{"handle":["wns","https://wns.example/?token=tile"],"tags":["tile"],"templates":{"t":{"body":"<tile><visual><binding template=\"TileText\"><text id=\"1\">$(m)</text></binding></visual></tile>","tags":["t"]}}}},"updated":1767603602000}');
INSERT INTO departure (hub, id, time, reason, detail) VALUES
    (1, '1000011-2000011-1', 1767603610000, 'deleted', NULL),
    (1, '1000012-2000012-1', 1767603611000, 'expired', NULL),
    (1, '1000013-2000013-1', 1767603612000, 'handleDied', 'APNs answered Unregistered'),
    (1, '1000014-2000014-1', 1767603613000, 'installationChanged', NULL);
INSERT INTO last_outcome (hub, place, outcome) VALUES
    (1, 0, 'Success'),
    (1, 1, 'WrongToken'),
    (1, 5, 'Throttled'),
    (2, 0, 'Dropped');
INSERT INTO sequence (hub, last) VALUES
    (2, 40);
INSERT INTO device_outcome (hub, sequence, ordinal, registration, platform, handle_platform, handle, template, outcome, reason, explanation, push_id, size, is_removed, installation) VALUES
    (1, 1, 0, '1000001-2000001-1', 'apns', 'apns', '0000000000000000000000000000000000000000000000000000000000000001', 'alert', 'Success', '', 'accepted by the push service', '0a000000-0000-0000-0000-00000000000f', 30, 0, 'ana-1'),
    (1, 1, 1, '1000013-2000013-1', 'apns', 'apns', '000000000000000000000000000000000000000000000000000000000000000D', NULL, 'WrongToken', 'Unregistered', 'the device token is inactive', NULL, 30, 1, NULL),
    (1, 1, 2, '1000004-2000004-1', 'wns', 'wns', 'https://wns.example/?token=tile', 't', 'Skipped', '', 'the same handle already got this notification', 'push 1', 0, 0, 'pc'),
    (1, 1, 3, '1000016-2000016-1', 'apns', 'apns', '0000000000000000000000000000000000000000000000000000000000000010', NULL, 'PnsUnreachable', 'the connection broke', 'nobody knows whether it was delivered', NULL, 30, 0, NULL),
    (1, 1, 4, '1000017-2000017-1', 'apns', 'apns', '0000000000000000000000000000000000000000000000000000000000000011', NULL, 'AbandonedNotificationMessages', '', 'the delivery was cancelled', NULL, 0, 0, NULL),
    (1, 4, 0, '2791930577995350061-1383940673593449736-1', 'browser', 'browser', 'https://push.example/send/1' || char(10) || 'BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' || char(10) || 'aaaaaaaaaaaaaaaaaaaaaa', NULL, 'Success', '', 'accepted by the push service', NULL, 2, 0, NULL),
    (1, 6, 0, NULL, 'apns', 'apns', '0000000000000000000000000000000000000000000000000000000000000001', NULL, 'Success', '', 'accepted by the push service', '0A000000-0000-0000-0000-00000000000F', 2, 0, NULL),
    (1, 6, 1, NULL, 'browser', 'browser', 'https://push.example/send/1' || char(10) || 'BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' || char(10) || 'aaaaaaaaaaaaaaaaaaaaaa', NULL, 'PnsUnavailable', '503', 'the push service is unavailable', NULL, 2, 0, NULL),
    (1, 6, 2, NULL, 'baidu', 'baidu', '17-8' || char(10) || '9-1', NULL, 'InvalidCredentials', '', 'no credential for Baidu', NULL, 0, 0, NULL);
INSERT INTO account (user, username, cost, salt, digest) VALUES
    ('username:ana', 'ana', 131072, X'01010101010101010101010101010101', X'0202020202020202020202020202020202020202020202020202020202020202'),
    ('username:Böb', 'Böb', 16, X'03030303030303030303030303030303', X'0404040404040404040404040404040404040404040404040404040404040404');
INSERT INTO session (digest, username, expiration) VALUES
    (X'0505050505050505050505050505050505050505050505050505050505050505', 'Ana', 1767607200000),
    (X'0606060606060606060606060606060606060606060606060606060606060606', 'carol', 1767600000000);
INSERT INTO secure_payload (id, sender, addressee, expiration, maximum_reads, sealed, granted_reads, ending, reads) VALUES
    ('201376544', 'username:ana', 'username:Böb', 1767690000000, 2, X'F51A6A80ECE416AD2B5AABDC7A9973E2564E364E462C603F1E4232DB17D80019B8FD8922FB81EEAF72274F486C7C1826477959EF114719B01C', 1, NULL, '[[1767603720000,"böb","granted"],[1767603721000,"eve","forbidden"]]'),
    ('7', 'username:Böb', 'username:Böb', 1767776400000, NULL, X'80CDD711A644B561D69E250747008444BD21A37DE4FFABA957DE0D742D5D1996703C33', 0, NULL, '[]'),
    ('8', 'username:ana', 'username:ana', 1767603700000, 1, NULL, 1, 'exhausted', '[[1767603690000,"ana","granted"]]'),
    ('9', 'username:ana', 'username:Böb', 1767603800000, NULL, NULL, 0, 'revoked', '[]'),
    ('10', 'username:ana', 'username:Böb', 1767603590000, NULL, NULL, 0, 'expired', '[[1767603600000,"Böb","expired"]]');
INSERT INTO job (hub, id, kind, status, is_final, progress, created_at, updated_at, content) VALUES
    (1, 'job-1', 'ExportRegistrations', 'Completed', 1, 10000, 1767603700000, 1767603710000, '{"output":"https://store.example/out?sig=1","results":{"OutputFilePath":"out/1.txt"}}'),
    (1, 'job-2', 'ImportUpsertRegistrations', 'Failed', 1, 1234, 1767603701000, 1767603711000, '{"output":"https://store.example/out?sig=2","import":"https://store.example/in?sig=3","properties":{"a":"b"},"failure":"line 7 is not a registration"}'),
    (1, 'job-3', 'ExportRegistrations', 'Running', 0, 50, 1767603702000, 1767603712000, '{"output":"file:///jobs"}');
INSERT INTO notification (key, hub, id, request, idempotency_key, fingerprint, state, is_final, tags, enqueued_at, started_at, ended_at, scheduled_for, counts, near_misses) VALUES
    (17592186044417, 1, '0123456789abcdef0123456789abcdef-20260105090000-1-1', '{"tags":"news && !muted","native":{"apns":{"text":"{\"aps\":{\"alert\":\"Hello\"}}","headers":[["apns-priority","5"]]},"wns":{"bytes":"/wA="}},"expiration":1767607200000,"priority":"high","collapse":"c-1"}', 'order-1', X'0101010101010101010101010101010101010101010101010101010101010101', 'Completed', 1, 'news && !muted', 1767603620000, 1767603621000, 1767603623000, NULL, '{"apns":{"Success":1,"WrongToken":1},"wns":{"Skipped":1}}', NULL),
    (17592186044418, 1, '0123456789abcdef0123456789abcdef-20260105090000-2-1', '{"tags":"news","template":{"message":"Good morning","é":"ü"}}', NULL, NULL, 'Scheduled', 0, 'news', 1767603630000, NULL, NULL, 1767690000000, NULL, NULL),
    (17592186044419, 1, '0123456789abcdef0123456789abcdef-20260105090000-3-1', '{"everyone":true,"template":{"a":"b"}}', NULL, NULL, 'NoTargetFound', 1, NULL, 1767603631000, 1767603631000, 1767603632000, NULL, NULL, '["no registration has the tag \"x\""]'),
    (17592186044420, 1, '0123456789abcdef0123456789abcdef-20260105090000-4-1', '{"everyone":true,"native":{"apns":{"text":"{}"},"wns":{"text":"<tile/>"},"browser":{"text":"{}"},"baidu":{"text":"{}"}}}', NULL, NULL, 'Processing', 0, NULL, 1767603640000, 1767603641000, NULL, NULL, '{"browser":{"Success":1}}', NULL),
    (17592186044421, 1, '0123456789abcdef0123456789abcdef-20260105090000-5-1', '{"tags":"news","template":{"message":"Final score"}}', NULL, NULL, 'Canceled', 1, 'news', 1767603650000, NULL, 1767603660000, 1767603660000, NULL, NULL),
    (17592186044422, 1, '0123456789abcdef0123456789abcdef-20260105090000-6-1', '{"devices":[["apns","0000000000000000000000000000000000000000000000000000000000000001"],["browser","https://push.example/send/1\nBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\naaaaaaaaaaaaaaaaaaaaaa"],["baidu","17-8\n9-1"]],"native":{"apns":{"text":"{}"}},"test":true}', NULL, NULL, 'DetailedStateAvailable', 1, NULL, 1767603670000, 1767603670000, 1767603671000, NULL, '{"apns":{"Success":1},"browser":{"PnsUnavailable":1},"baidu":{"InvalidCredentials":1}}', NULL),
    (35184372088873, 2, '0123456789abcdef0123456789abcdef-20260105090000-41-1', '{"device":["fcmv1","fcm:token-1"],"template":{}}', NULL, NULL, 'Enqueued', 0, NULL, 1767603642000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO provider_token (key, token, issued_at) VALUES
    ('apns/TEAM/KEY1', 'token-for-apns', 1767603605000);
CREATE INDEX departure_by_time ON departure (hub, time);
CREATE INDEX session_by_expiration ON session (expiration);
CREATE INDEX secure_payload_readable ON secure_payload (addressee) WHERE ending IS NULL;
CREATE INDEX secure_payload_by_expiration ON secure_payload (expiration);
CREATE INDEX device_outcome_removed ON device_outcome (hub, sequence, ordinal) WHERE is_removed = 1;
CREATE UNIQUE INDEX notification_by_key ON notification (hub, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX notification_unfinished ON notification (hub) WHERE is_final = 0;
CREATE INDEX notification_by_end ON notification (hub, ended_at) WHERE is_final = 1;
CREATE UNIQUE INDEX hub_by_name ON hub (lower(name));
CREATE INDEX registration_by_template ON registration (template) WHERE template IS NOT NULL;

-- Schema version 16: the last migration is "whose registrations left".
-- Payload key: 1b55bb73e0dfde945f79d12145d1ab1fd8f43a5f0c8efb6d627b3d775cfd7866
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
, remarks TEXT, origin TEXT, holds BLOB) STRICT;
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
INSERT INTO grdb_migrations (identifier) VALUES
    ('tables'),
    ('feedback and jobs'),
    ('keys of notifications, names of hubs'),
    ('tokens for push services'),
    ('installations of devices'),
    ('users of templates'),
    ('keys of secure payloads'),
    ('outcomes in batches'),
    ('remarks on notifications'),
    ('devices that were pruned'),
    ('keys and values, an audit trail'),
    ('origins of notifications'),
    ('devices that are held'),
    ('sends that wait for leave'),
    ('runs of flows'),
    ('whose registrations left');
INSERT INTO namespace (key, rules, last_hub) VALUES
    (1, '[{"name":"RootManageSharedAccessKey","rights":["Listen","Manage","Send"],"primary":"RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR=","secondary":"rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr=","created":1767603540000,"modified":1767603540000}]', 4);
INSERT INTO hub (number, name, description, created_at, updated_at) VALUES
    (1, 'hub', '{"rules":[{"name":"DefaultFullSharedAccessSignature","rights":["Listen","Manage","Send"],"primary":"FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF=","secondary":"fffffffffffffffffffffffffffffffffffffffffff=","created":1767603550000,"modified":1767603550000},{"name":"sender","rights":["Send"],"primary":"SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS=","secondary":"sssssssssssssssssssssssssssssssssssssssssss=","created":1767603560000,"modified":1767603570000,"ceiling":1000}],"ttl":[7776000,0],"credentials":{"Apns":[["Token","credential-of-apns"],["KeyId","KEY1"]]},"metadata":"team=ops; größe=1","quotas":{"DailyOperations":100,"DailyMaxActiveDevices":7}}', 1767603550000, 1767603570000),
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
INSERT INTO departure (hub, id, time, reason, detail, platform, handle, expiration, installation) VALUES
    (1, '1000011-2000011-1', 1767603610000, 'deleted', NULL, NULL, NULL, NULL, NULL),
    (1, '1000012-2000012-1', 1767603611000, 'expired', NULL, NULL, NULL, NULL, NULL),
    (1, '1000013-2000013-1', 1767603612000, 'handleDied', 'APNs answered Unregistered', 'apns', '000000000000000000000000000000000000000000000000000000000000000D', 253402300799999, NULL),
    (1, '1000014-2000014-1', 1767603613000, 'installationChanged', NULL, 'apns', '000000000000000000000000000000000000000000000000000000000000000E', 1767690000000, 'ana-1');
INSERT INTO sequence (hub, last) VALUES
    (2, 40);
INSERT INTO account (user, username, cost, salt, digest) VALUES
    ('username:ana', 'ana', 131072, X'01010101010101010101010101010101', X'0202020202020202020202020202020202020202020202020202020202020202'),
    ('username:Böb', 'Böb', 16, X'03030303030303030303030303030303', X'0404040404040404040404040404040404040404040404040404040404040404');
INSERT INTO session (digest, username, expiration) VALUES
    (X'0505050505050505050505050505050505050505050505050505050505050505', 'Ana', 1767607200000),
    (X'0606060606060606060606060606060606060606060606060606060606060606', 'carol', 1767600000000);
INSERT INTO secure_payload (id, sender, addressee, expiration, maximum_reads, sealed, granted_reads, ending, reads, key_mark) VALUES
    ('201376544', 'username:ana', 'username:Böb', 1767690000000, 2, X'F51A6A80ECE416AD2B5AABDC3BD031D35F8C9F4EFC209C0F22A2AD8802FDBB9FE1BE2934054456C183067D5497958A34605857C66177A546F7', 1, NULL, '[[1767603720000,"böb","granted"],[1767603721000,"eve","forbidden"],[1767603722000,"Böb","vetoed"]]', X'B6F2742928B3AB7A'),
    ('7', 'username:Böb', 'username:Böb', 1767776400000, NULL, X'80CDD711A644B561D69E25079B834F93DAED8650828CE59E711C72ADE340870A7CA0EE', 0, NULL, '[]', X''),
    ('8', 'username:ana', 'username:ana', 1767603700000, 1, NULL, 1, 'exhausted', '[[1767603690000,"ana","granted"]]', X'B6F2742928B3AB7A'),
    ('9', 'username:ana', 'username:Böb', 1767603800000, NULL, NULL, 0, 'revoked', '[]', X'B6F2742928B3AB7A'),
    ('10', 'username:ana', 'username:Böb', 1767603590000, NULL, NULL, 0, 'expired', '[[1767603600000,"Böb","expired"]]', X'B6F2742928B3AB7A');
INSERT INTO job (hub, id, kind, status, is_final, progress, created_at, updated_at, content) VALUES
    (1, 'job-1', 'ExportRegistrations', 'Completed', 1, 10000, 1767603700000, 1767603710000, '{"output":"https://store.example/out?sig=1","results":{"OutputFilePath":"out/1.txt"}}'),
    (1, 'job-2', 'ImportUpsertRegistrations', 'Failed', 1, 1234, 1767603701000, 1767603711000, '{"output":"https://store.example/out?sig=2","import":"https://store.example/in?sig=3","properties":{"a":"b"},"failure":"line 7 is not a registration"}'),
    (1, 'job-3', 'ExportRegistrations', 'Running', 0, 50, 1767603702000, 1767603712000, '{"output":"file:///jobs"}');
INSERT INTO notification (key, hub, id, request, idempotency_key, fingerprint, state, is_final, tags, enqueued_at, started_at, ended_at, scheduled_for, counts, near_misses, remarks, origin, holds) VALUES
    (17592186044417, 1, '0123456789abcdef0123456789abcdef-20260105090000-1-1', '{"tags":"news && !muted","native":{"apns":{"text":"{\"aps\":{\"alert\":\"Hello\"}}","headers":[["apns-priority","5"]]},"wns":{"bytes":"/wA="}},"expiration":1767607200000,"priority":"high","collapse":"c-1"}', 'order-1', X'0101010101010101010101010101010101010101010101010101010101010101', 'Completed', 1, 'news && !muted', 1767603620000, 1767603621000, 1767603623000, NULL, '{"apns":{"Success":1,"WrongToken":1},"wns":{"Skipped":1}}', NULL, '{"pruned":{"apns":{"Unregistered":1}}}', '["weather","quiet"]', NULL),
    (17592186044418, 1, '0123456789abcdef0123456789abcdef-20260105090000-2-1', '{"tags":"news","template":{"message":"Good morning","é":"ü"},"pace":"200/s"}', NULL, NULL, 'Scheduled', 0, 'news', 1767603630000, NULL, NULL, 1767690000000, NULL, NULL, NULL, NULL, NULL),
    (17592186044419, 1, '0123456789abcdef0123456789abcdef-20260105090000-3-1', '{"everyone":true,"template":{"a":"b"}}', NULL, NULL, 'NoTargetFound', 1, NULL, 1767603631000, 1767603631000, 1767603632000, NULL, NULL, '["no registration has the tag \"x\""]', NULL, NULL, NULL),
    (17592186044420, 1, '0123456789abcdef0123456789abcdef-20260105090000-4-1', '{"everyone":true,"native":{"apns":{"text":"{}"},"wns":{"text":"<tile/>"},"browser":{"text":"{}"},"baidu":{"text":"{}"}}}', NULL, NULL, 'Processing', 0, NULL, 1767603640000, 1767603641000, NULL, NULL, '{"browser":{"Success":1}}', NULL, '{"notices":["APNs: most handles belong to the sandbox","1 device waits until 2026-01-05T11:00:00.000Z: quiet: until nine","2 devices wait until 2026-01-05T12:00:00.000Z: long"]}', NULL, X'8057D08D9B0100001171756965743A20756E74696C206E696E650461706E730101B4240046078E9B010000046C6F6E670562616964750106070046078E9B010000046C6F6E6703776E73010398F5F2F60F'),
    (17592186044421, 1, '0123456789abcdef0123456789abcdef-20260105090000-5-1', '{"tags":"news","template":{"message":"Final score"}}', NULL, NULL, 'Canceled', 1, 'news', 1767603650000, NULL, 1767603660000, 1767603660000, NULL, NULL, NULL, NULL, NULL),
    (17592186044422, 1, '0123456789abcdef0123456789abcdef-20260105090000-6-1', '{"devices":[["apns","0000000000000000000000000000000000000000000000000000000000000001"],["browser","https://push.example/send/1\nBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\naaaaaaaaaaaaaaaaaaaaaa"],["baidu","17-8\n9-1"]],"native":{"apns":{"text":"{}"}},"test":true}', NULL, NULL, 'DetailedStateAvailable', 1, NULL, 1767603670000, 1767603670000, 1767603671000, NULL, '{"apns":{"Success":1},"browser":{"PnsUnavailable":1},"baidu":{"InvalidCredentials":1}}', NULL, NULL, NULL, NULL),
    (35184372088873, 2, '0123456789abcdef0123456789abcdef-20260105090000-41-1', '{"device":["fcmv1","fcm:token-1"],"template":{}}', NULL, NULL, 'Enqueued', 0, NULL, 1767603642000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO provider_token (key, token, issued_at) VALUES
    ('apns/TEAM/KEY1', 'token-for-apns', 1767603605000);
INSERT INTO outcome_batch (id, notification, first, count, content) VALUES
    (1, 17592186044417, 0, 7, X'020D05616C657274001C616363657074656420627920746865207075736820736572766963650C556E726567697374657265641C7468652064657669636520746F6B656E20697320696E616374697665017437616E6F7468657220726567697374726174696F6E2077697468207468652073616D652068616E646C65207374616E647320666F722069742A74686520726567697374726174696F6E206C656674206265666F726520697473207475726E2063616D651474686520636F6E6E656374696F6E2062726F6B65256E6F626F6479206B6E6F77732077686574686572206974207761732064656C6976657265641A7468652064656C6976657279207761732063616E63656C6C656404486F6F6B0F71756965743A206174206E6967687407010101010001021E0101120203041E04040F010501060001010F0001071E01010E0008091E01010200010A0001010F000B0C000702007CCE628D9B0100000270D0628D9B010000005D41420F000000000081841E000000000005616E612D3100000000000000000000000000000000000000000000000000000000000000010A00000000000000000000000000000F01114D420F00000000008D841E0000000000000000000000000000000000000000000000000000000000000000000000000D02CD44420F000000000084841E00000000000270631F68747470733A2F2F776E732E6578616D706C652F3F746F6B656E3D74696C650670757368203103114F420F00000000008F841E0000000000000000000000000000000000000000000000000000000000000000000000000F041150420F000000000090841E00000000000000000000000000000000000000000000000000000000000000000000000010051151420F000000000091841E00000000000000000000000000000000000000000000000000000000000000000000000011061152420F000000000092841E000000000000000000000000000000000000000000000000000000000000000000000000121A4597409B751C75'),
    (2, 17592186044420, 0, 1, X'0202001C616363657074656420627920746865207075736820736572766963650105050100000102010100A21B638D9B01000000012DC0F68211EEBE26089DC0CFB5BE34131B68747470733A2F2F707573682E6578616D706C652F73656E642F31574241414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141411661616161616161616161616161616161616161616161D066370914E22ECF'),
    (3, 17592186044422, 0, 3, X'0105001C61636365707465642062792074686520707573682073657276696365033530331F7468652070757368207365727669636520697320756E617661696C61626C65176E6F2063726564656E7469616C20666F72204261696475030101010000010205050D000203020808080000040003009000000000000000000000000000000000000000000000000000000000000000010A00000000000000000000000000000F01001B68747470733A2F2F707573682E6578616D706C652F73656E642F3157424141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141166161616161616161616161616161616161616161616102000431372D3803392D31CC5245E7DC5010EF');
INSERT INTO dead_batch (notification, first, ordinals, content) VALUES
    (17592186044417, 1, X'01', X'01020C556E726567697374657265641C7468652064657669636520746F6B656E20697320696E616374697665010101120200011E0100114D420F00000000008D841E0000000000000000000000000000000000000000000000000000000000000000000000000DA696C389A99A6DDC');
INSERT INTO last_outcome_block (key, content) VALUES
    (4194304, X'011200000010'),
    (8388608, X'06');
INSERT INTO pruned (number, hub, time, is_restored, id, notification, platform, handle, reason, content) VALUES
    (2, 1, 1767603622000, 0, '1000013-2000013-1', '0123456789abcdef0123456789abcdef-20260105090000-1-1', 'apns', '000000000000000000000000000000000000000000000000000000000000000D', 'Unregistered', '{"registration":{"id":"1000013-2000013-1","etag":2,"expiration":253402300799999,"updated":1767603606000,"handle":["apns","000000000000000000000000000000000000000000000000000000000000000D"],"tags":["News"],"template":{"platform":"apns","body":"{\"aps\":{\"alert\":\"$(m)\"}}","headers":[["apns-push-type","alert"]],"priority":"5"},"variables":{"a":"ü"}}}'),
    (3, 1, 1767603623000, 0, 'ana-9', '0123456789abcdef0123456789abcdef-20260105090000-1-1', 'apns', '0000000000000000000000000000000000000000000000000000000000000009', 'Unregistered', '{"installation":{"id":"ana-9","user":"Ana","tags":["News","größe"]}}'),
    (4, 1, 1767603624000, 1, '1000006-2000006-1', '0123456789abcdef0123456789abcdef-20260105090000-1-1', 'baidu', '17-8' || char(10) || '9-1', 'Unregistered', '{"registration":{"id":"1000006-2000006-1","etag":1,"expiration":253402300799999,"updated":1767603603000,"handle":["baidu","17-8\n9-1"]}}');
INSERT INTO pruned_telling (hub, offered, acknowledged) VALUES
    (1, 3, 1);
INSERT INTO key_value_space (number, name, entries, bytes, last_version) VALUES
    (1, 'weather', 3, 79, 1767603603000),
    (2, 'empty', 0, 0, 1767603602000);
INSERT INTO key_value (id, space, kind, key, version, expiration, content) VALUES
    (1, 1, 0, X'6C617374', 5, NULL, X'7B2263697479223A224C6973626F61222C2264656772656573223A31372E357D'),
    (2, 1, 0, X'766973697473', 1767603603000, 1767690000000, X'3431'),
    (3, 1, 1, X'616E61', 0, 1767607200000, X'37E22E12CEAA083F807A628D9B010000DCB51C66A9FF6B0F687E628D9B010000');
INSERT INTO audit_entry (sequence, time, actor, action, subject, details, outcome, hash) VALUES
    (1, 1767603800000, 'owner', 'plugin.install', 'weather', '[["digest","7bd5f4"],["version","1.0"]]', 'succeeded', X'5483A9F54E4512E71612EBFD3A8756868A6607AEB3837517C6C3FCF284AE9361'),
    (2, 1767603801000, 'key:RootManageSharedAccessKey', 'plugin.enable', 'größe "x"', '[]', 'refused', X'1480D7697ADE5AE24605997866C32049388D1E1A024623D69919E3CD49CFF85B'),
    (3, 1767603802000, 'key:hub/sender', 'approval.request', 'a-1', '[["hub","hub"],["words","a-1: 1,203 devices"]]', 'succeeded', X'6B406AF59D937F7C8A78B52524DCBC66E4883DC2BD481A1E3B80BAEFC3BF2B9A');
INSERT INTO audit_end (key, sequence, hash) VALUES
    (1, 3, X'6B406AF59D937F7C8A78B52524DCBC66E4883DC2BD481A1E3B80BAEFC3BF2B9A');
INSERT INTO approval (number, hub, state, requester, fingerprint, idempotency_key, expires_at, content, request) VALUES
    (1, 1, 'pending', 'key:hub/sender', X'0101010101010101010101010101010101010101010101010101010101010101', 'ask-1', 1767690000000, '{"hub":"hub","created":1767603730000,"sendKey":"approval-1","audience":"everyone","content":"templates with message (12 bytes)","ceiling":[1000,"key:hub/sender"],"reach":{"apns":1200,"wns":3},"note":"outage \"north\"","moment":1767776400000}', '{"everyone":true,"template":{"message":"To everybody"}}'),
    (2, 1, 'denied', 'flow:greet', X'0202020202020202020202020202020202020202020202020202020202020202', NULL, 1767690001000, '{"hub":"hub","created":1767603731000,"sendKey":"approval-2","audience":"tags news","content":"apns (2 bytes)","ceiling":[2,"the server"],"reach":{"apns":3},"decision":{"by":"owner","at":1767603740000,"reason":"too many"}}', NULL),
    (4, 1, 'sent', 'key:RootManageSharedAccessKey', X'0404040404040404040404040404040404040404040404040404040404040404', NULL, 1767690002000, '{"hub":"hub","created":1767603732000,"sendKey":"approval-4","audience":"tags news","content":"templates with message (11 bytes)","ceiling":[10,"the server"],"reach":{"apns":12},"decision":{"by":"key:hub/ops","at":1767603741000},"notification":"0123456789abcdef0123456789abcdef-20260105090000-5-1"}', NULL),
    (5, 1, 'approved', 'plugin:weather', X'0505050505050505050505050505050505050505050505050505050505050505', NULL, 1767690003000, '{"hub":"hub","created":1767603733000,"sendKey":"approval-5","audience":"tags news","content":"templates with message (2 bytes)","ceiling":[2,"the server"],"reach":{"apns":3},"decision":{"by":"owner","at":1767603742000}}', '{"tags":"news","template":{"message":"Hi"}}');
INSERT INTO run (number, flow, key, state, is_final, trigger, queued_at, ended_at, content, report) VALUES
    (1, 'greet', 'k-1', 'completed', 1, 'command', 1767603750000, 1767603753000, '{"script":"scripts/greet.lua","trigger":{"kind":"command","by":"owner"},"arguments":{"to":"sports","n":[1,2.5]},"guarantee":"at-most-once","attempts":1,"version":"7bd5f4","withheld":["secret"],"started":1767603751000}', '{"steps":[{"name":"greet","depth":0,"status":"passed","began":1767603751000,"ended":1767603752000,"notifications":["0123456789abcdef0123456789abcdef-20260105090000-1-1"]},{"name":"wait","depth":1,"status":"skipped","began":1767603752000,"ended":1767603752000,"reason":"not today"}],"log":[[1767603752000,"info","greeted é"]],"omitted":2,"notifications":["0123456789abcdef0123456789abcdef-20260105090000-1-1","0123456789abcdef0123456789abcdef-20260105090000-2-1"],"result":{"ok":true}}'),
    (2, 'clean', NULL, 'queued', 0, 'event', 1767603754000, NULL, '{"script":"scripts/clean.lua","trigger":{"kind":"event","event":"token.expired","hub":"hub"},"arguments":{},"guarantee":"at-least-once","attempts":0,"origin":["weather"]}', NULL),
    (4, 'greet', NULL, 'running', 0, 'schedule', 1767603755000, NULL, '{"script":"scripts/greet.lua","trigger":{"kind":"schedule","schedule":"morning","moment":"2026-01-05T09:02:35Z"},"arguments":{},"guarantee":"at-most-once","attempts":1,"version":"7bd5f4","started":1767603755000}', NULL),
    (5, 'greet', NULL, 'failed', 1, 'rerun', 1767603756000, 1767603757000, '{"script":"scripts/greet.lua","trigger":{"kind":"rerun","run":"r-1","by":"key:hub/sender"},"arguments":{},"guarantee":"at-most-once","attempts":1,"started":1767603756000}', '{"failure":{"code":"script.error","message":"attempt to call nil","hint":"check the name","location":"scripts/greet.lua:4"}}');
INSERT INTO schedule (name, is_configured, is_paused, heard, content) VALUES
    ('morning', 1, 0, 1767603755000, '{"flow":"greet","cron":"30 9 * * MON-FRI","zone":"Europe/Lisbon","missed":"once","arguments":{"to":"news"}}'),
    ('nightly', 0, 1, NULL, '{"flow":"clean","cron":"@daily","zone":"UTC","missed":"skip","arguments":{}}');
INSERT INTO hub_event (number, hub, kind, time, content) VALUES
    (3, 'hub', 'token.expired', 1767603622000, '{"facts":{"kind":"registration","id":"1000013-2000013-1","platform":"apns","user":null,"reason":"Unregistered","notification_id":"0123456789abcdef0123456789abcdef-20260105090000-1-1"},"origin":["weather"]}'),
    (4, 'hub', 'registration.created', 1767603623000, '{"facts":{"kind":"installation","id":"ana-1","tags":["News"]}}');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (name, seq) VALUES ('pruned', 5), ('approval', 7), ('run', 6), ('hub_event', 4);
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

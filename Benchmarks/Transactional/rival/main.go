// A hub as a Go developer would write it with Debian's packages: net/http, SQLite through the usual driver, golang.org/x/net/http2.
// For one send to a user it does the same as PushHost:
//   - It verifies the token. A token that was verified before is found in a cache.
//   - It checks headers, tag, size and JSON, and stores the request with synchronous=FULL before it answers 201. Waiting requests share
//     commits.
//   - It finds the devices of the tag in memory, and sends to them over one HTTP/2 connection with TLS, with a signed provider token and
//     an apns-id per device.
//   - It reads the verdict, and stores the outcome of each device together with the final state of the notification.
//   - After a restart it delivers what was accepted and has no final state.
//
// These checks and guards of PushHost are missing:
//   - Keys: one key with all rights. PushHost has rules for each hub and for the server, two keys for each rule, a request limit per key,
//     and verifies again if keys have changed while the body arrived. Its work is the same for unknown key names.
//   - Requests: no limit of connections, of buffered bytes per connection, address and server, and of the JSON's depth. Repeated and
//     conflicting headers are not rejected; headers for the push service are not passed on.
//   - Sends: one hub, native payloads for APNs, and a single tag. No tag expressions, templates, other platforms, direct sends, test sends,
//     schedules, idempotency keys, paces, plans, approvals, hooks, audit log.
//   - Registrations: no expiry, no ETags, no tombstones, no installation templates, no duplicate handles. Tags are in a map; PushHost has a
//     compressed index.
//   - Delivery: no retries, Retry-After, expiration, circuit breaker, congestion window, timeout of a push or cancellation. Devices with
//     invalid handles are not removed, tokens of another environment are not detected. Private addresses are not rejected, keys of hosts
//     cannot be pinned. A send repeated after a crash gets a new apns-id.
//   - Outbox: up to 4,096 notifications wait in memory, then requests wait. PushHost reads others from the database.
//   - Storage: no secrets at rest, checksums of outcomes, last outcome of a device, near misses, retention, integrity check, handling of a
//     full disk, migrations.
//   - Operation: no metrics, health, telemetry, traces, log of requests, reload of settings; SIGTERM ends it without finishing deliveries.
//
// Usage: rival PORT FILE KEYNAME KEY APNS ROOTS SIGNINGKEY KEYID TEAMID TOPIC
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
	"golang.org/x/net/http2"
)

// MARK: Storage

const schema = `
PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -32768;
CREATE TABLE IF NOT EXISTS device (id TEXT PRIMARY KEY, updated_at INTEGER NOT NULL, handle TEXT NOT NULL, tags TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notification (key INTEGER PRIMARY KEY, id TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL,
	is_final INTEGER NOT NULL, tags TEXT, enqueued_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, counts TEXT);
CREATE INDEX IF NOT EXISTS notification_unfinished ON notification (key) WHERE is_final = 0;
CREATE INDEX IF NOT EXISTS notification_by_end ON notification (ended_at) WHERE is_final = 1;
CREATE TABLE IF NOT EXISTS outcome (id INTEGER PRIMARY KEY, notification INTEGER NOT NULL, device TEXT NOT NULL, handle TEXT NOT NULL,
	status INTEGER NOT NULL, reason TEXT NOT NULL, push_id TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS outcome_by_notification ON outcome (notification);
`

const (
	upsertDevice = iota
	insertNotification
	insertOutcome
	endNotification
)

var statements = []string{
	`INSERT INTO device (id, updated_at, handle, tags) VALUES (?, ?, ?, ?)
	 ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, handle = excluded.handle, tags = excluded.tags`,
	`INSERT INTO notification (key, id, request, state, is_final, tags, enqueued_at) VALUES (?, ?, ?, 'Enqueued', 0, ?, ?)`,
	`INSERT INTO outcome (notification, device, handle, status, reason, push_id) VALUES (?, ?, ?, ?, ?, ?)`,
	`UPDATE notification SET state = ?, is_final = 1, started_at = ?, ended_at = ?, counts = ? WHERE key = ?`,
}

type step struct {
	statement int
	values    []driver.Value
}

// A change runs in the transaction of all that wait at the time. Without a channel, a failure is only logged.
type change struct {
	steps []step
	done  chan error
}

var changes = make(chan change, 4096)

// Returns when the change is on disk.
func write(steps ...step) error {
	done := make(chan error, 1)
	changes <- change{steps, done}
	return <-done
}

func open(path string) (*sqlite3.SQLiteConn, error) {
	connection, err := (&sqlite3.SQLiteDriver{}).Open(path)
	if err != nil {
		return nil, err
	}
	database := connection.(*sqlite3.SQLiteConn)
	_, err = database.Exec(schema, nil)
	return database, err
}

func runWriter(database *sqlite3.SQLiteConn) error {
	var prepared []driver.Stmt
	for _, text := range statements {
		statement, err := database.Prepare(text)
		if err != nil {
			return err
		}
		prepared = append(prepared, statement)
	}
	go func() {
		for first := range changes {
			batch := []change{first}
		drain:
			for len(batch) < 1024 {
				select {
				case next := <-changes:
					batch = append(batch, next)
				default:
					break drain
				}
			}
			err := commit(database, prepared, batch)
			for _, one := range batch {
				if one.done != nil {
					one.done <- err
				} else if err != nil {
					log.Print("an outcome is not stored: ", err)
				}
			}
		}
	}()
	return nil
}

func commit(database *sqlite3.SQLiteConn, prepared []driver.Stmt, batch []change) error {
	if _, err := database.Exec("BEGIN IMMEDIATE", nil); err != nil {
		return err
	}
	for _, one := range batch {
		for _, step := range one.steps {
			if _, err := prepared[step.statement].Exec(step.values); err != nil {
				database.Exec("ROLLBACK", nil)
				return err
			}
		}
	}
	_, err := database.Exec("COMMIT", nil)
	return err
}

func rows(database *sqlite3.SQLiteConn, query string, read func([]driver.Value)) error {
	found, err := database.Query(query, nil)
	if err != nil {
		return err
	}
	defer found.Close()
	values := make([]driver.Value, len(found.Columns()))
	for {
		if err := found.Next(values); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		read(values)
	}
}

// MARK: Devices

type device struct{ id, handle string }

var (
	devices = map[string][]device{} // by tag
	tagsOf  = map[string][]string{} // by device id
	guard   sync.RWMutex
)

func index(one device, tags []string) {
	guard.Lock()
	defer guard.Unlock()
	for _, tag := range tagsOf[one.id] {
		var rest []device
		for _, other := range devices[tag] {
			if other.id != one.id {
				rest = append(rest, other)
			}
		}
		devices[tag] = rest
	}
	tagsOf[one.id] = tags
	for _, tag := range tags {
		devices[tag] = append(devices[tag], one)
	}
}

func tagged(tag string) []device {
	guard.RLock()
	defer guard.RUnlock()
	return devices[tag]
}

func isTag(text string) bool {
	if len(text) == 0 || len(text) > 120 {
		return false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_@#.:-", c) >= 0) {
			return false
		}
	}
	return true
}

func putInstallation(response http.ResponseWriter, request *http.Request, id string) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 256<<10))
	if err != nil {
		http.Error(response, err.Error(), 413)
		return
	}
	var read struct {
		InstallationID, Platform, PushChannel string
		Tags                                  []string
	}
	err = json.Unmarshal(body, &read)
	handle, invalid := hex.DecodeString(read.PushChannel)
	if err != nil || invalid != nil || len(handle) < 32 || read.InstallationID != id || read.Platform != "apns" || len(read.Tags) > 1000 {
		http.Error(response, "installation", 400)
		return
	}
	for _, tag := range read.Tags {
		if !isTag(tag) {
			http.Error(response, "tag", 400)
			return
		}
	}
	tags, _ := json.Marshal(read.Tags)
	if err := write(step{upsertDevice, []driver.Value{id, time.Now().UnixMilli(), read.PushChannel, string(tags)}}); err != nil {
		http.Error(response, err.Error(), 503)
		return
	}
	index(device{id, read.PushChannel}, read.Tags)
	header(response)
}

// MARK: Tokens of requests

type rule struct{ name, key string }

type proof struct {
	expiry     int64
	host, path string
}

var (
	proofs      = map[string]proof{}
	proofsGuard sync.RWMutex
)

func (r rule) allows(request *http.Request) bool {
	text := request.Header.Get("Authorization")
	proofsGuard.RLock()
	found, isKnown := proofs[text]
	proofsGuard.RUnlock()
	if !isKnown {
		if found, isKnown = r.prove(text); !isKnown {
			return false
		}
		proofsGuard.Lock()
		if len(proofs) >= 1000 {
			proofs = map[string]proof{}
		}
		proofs[text] = found
		proofsGuard.Unlock()
	}
	return time.Now().Unix() <= found.expiry && found.host == strings.ToLower(request.Host) &&
		strings.HasPrefix(strings.ToLower(request.URL.Path)+"/", found.path)
}

func (r rule) prove(text string) (proof, bool) {
	if !strings.HasPrefix(text, "SharedAccessSignature ") {
		return proof{}, false
	}
	fields := map[string]string{}
	for _, part := range strings.Split(strings.TrimPrefix(text, "SharedAccessSignature "), "&") {
		name, value, _ := strings.Cut(part, "=")
		fields[name] = value
	}
	expiry, err := strconv.ParseInt(fields["se"], 10, 64)
	if err != nil || fields["skn"] != r.name {
		return proof{}, false
	}
	signature, err := url.QueryUnescape(fields["sig"])
	if err != nil {
		return proof{}, false
	}
	given, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		return proof{}, false
	}
	mac := hmac.New(sha256.New, []byte(r.key))
	io.WriteString(mac, fields["sr"]+"\n"+fields["se"])
	if !hmac.Equal(mac.Sum(nil), given) {
		return proof{}, false
	}
	resource, err := url.QueryUnescape(fields["sr"])
	if err != nil {
		return proof{}, false
	}
	address, err := url.Parse(strings.ToLower(resource))
	if err != nil {
		return proof{}, false
	}
	return proof{expiry, address.Host, strings.TrimSuffix(address.Path, "/") + "/"}, true
}

// MARK: Messages

type notification struct {
	key    int64
	random [16]byte
	tag    string
	body   []byte
}

// The stored form of a request.
type request struct {
	Tags string          `json:"tags"`
	Body json.RawMessage `json:"apns"`
}

var (
	outbox  = make(chan notification, 4096)
	lastKey = make(chan int64, 1)
)

func postMessage(response http.ResponseWriter, received *http.Request, hub string) {
	if received.Header.Get("ServiceBusNotification-Format") != "apple" {
		http.Error(response, "format", 400)
		return
	}
	tag := received.Header.Get("ServiceBusNotification-Tags")
	if !isTag(tag) {
		http.Error(response, "tag", 400)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(response, received.Body, 64<<10))
	if err != nil || len(body) > 4096 {
		http.Error(response, "size", 413)
		return
	}
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(body, &properties); err != nil || properties == nil {
		http.Error(response, "JSON", 400)
		return
	}
	now := time.Now()
	stored, _ := json.Marshal(request{tag, body})
	key := <-lastKey + 1
	lastKey <- key
	one := notification{key: key, tag: tag, body: body}
	rand.Read(one.random[:])
	id := fmt.Sprintf("%x-%s-%d-1", one.random, now.UTC().Format("20060102150405"), key)
	if err := write(step{insertNotification, []driver.Value{key, id, string(stored), tag, now.UnixMilli()}}); err != nil {
		http.Error(response, err.Error(), 503)
		return
	}
	outbox <- one
	header(response)
	response.Header().Set("Location", "http://"+received.Host+"/"+hub+"/messages/"+id+"?api-version=2015-01")
	response.WriteHeader(201)
}

func header(response http.ResponseWriter) {
	var random [16]byte
	rand.Read(random[:])
	id := uuid(random)
	response.Header().Set("Content-Type", "application/xml; charset=utf-8")
	response.Header().Set("TrackingId", id)
	response.Header().Set("x-ms-correlation-request-id", id)
}

func uuid(bytes [16]byte) string {
	var text [36]byte
	hex.Encode(text[:8], bytes[:4])
	hex.Encode(text[9:13], bytes[4:6])
	hex.Encode(text[14:18], bytes[6:8])
	hex.Encode(text[19:23], bytes[8:10])
	hex.Encode(text[24:], bytes[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

// MARK: Delivery

// The number of pushes in flight.
const workers = 512

type service struct {
	address   *url.URL
	topic     string
	token     *providerToken
	transport *http2.Transport
}

func (s *service) deliver() {
	for one := range outbox {
		started := time.Now()
		var steps []step
		accepted, rejected := 0, 0
		for place, device := range tagged(one.tag) {
			id := one.random
			id[14] ^= byte(place >> 8)
			id[15] ^= byte(place)
			pushID := uuid(id)
			status, reason := s.push(device, pushID, one.body)
			if status == 200 {
				accepted++
			} else {
				rejected++
			}
			steps = append(steps, step{insertOutcome, []driver.Value{one.key, device.id, device.handle, int64(status), reason, pushID}})
		}
		state := "Completed"
		if len(steps) == 0 {
			state = "NoTargetFound"
		}
		counts := fmt.Sprintf(`{"accepted":%d,"rejected":%d}`, accepted, rejected)
		steps = append(steps, step{endNotification, []driver.Value{state, started.UnixMilli(), time.Now().UnixMilli(), counts, one.key}})
		changes <- change{steps, nil}
	}
}

// The status and the reason of the response; 0 if there is none.
func (s *service) push(device device, id string, body []byte) (int, string) {
	token, err := s.token.current()
	if err != nil {
		return 0, err.Error()
	}
	address := *s.address
	address.Path = "/3/device/" + device.handle
	// A request that the service refused to process is sent again.
	reader := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	content, _ := reader()
	response, err := s.transport.RoundTrip(&http.Request{
		Method: "POST", URL: &address, Host: address.Host, Body: content, GetBody: reader, ContentLength: int64(len(body)),
		Header: http.Header{
			"Authorization": {token}, "Apns-Topic": {s.topic}, "Apns-Push-Type": {"alert"}, "Apns-Priority": {"10"}, "Apns-Id": {id},
		},
	})
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil || response.StatusCode == 200 {
		return response.StatusCode, ""
	}
	var answer struct{ Reason string }
	if json.Unmarshal(text, &answer) != nil || answer.Reason == "" {
		return response.StatusCode, "unreadable"
	}
	return response.StatusCode, answer.Reason
}

// Apple accepts a token for an hour, and a new one at most every 20 minutes.
type providerToken struct {
	key         *ecdsa.PrivateKey
	keyID, team string
	guard       sync.Mutex
	text        string
	issued      time.Time
}

func (p *providerToken) current() (string, error) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if time.Since(p.issued) < 40*time.Minute {
		return p.text, nil
	}
	now := time.Now()
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(fmt.Sprintf(`{"alg":"ES256","kid":"%s"}`, p.keyID))) + "." +
		encode([]byte(fmt.Sprintf(`{"iss":"%s","iat":%d}`, p.team, now.Unix())))
	digest := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, p.key, digest[:])
	if err != nil {
		return "", err
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	p.text, p.issued = "bearer "+text+"."+encode(signature[:]), now
	return p.text, nil
}

func makeService(address, roots, key, keyID, team, topic string) (*service, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	certificates, err := os.ReadFile(roots)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(certificates)
	text, err := os.ReadFile(key)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	signing, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	return &service{
		parsed, topic, &providerToken{key: signing.(*ecdsa.PrivateKey), keyID: keyID, team: team},
		&http2.Transport{
			TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableCompression: true, StrictMaxConcurrentStreams: true,
			ReadIdleTimeout: 30 * time.Second,
		},
	}, nil
}

// MARK: Start

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	words := os.Args[1:]
	port, file, known := words[0], words[1], rule{words[2], words[3]}
	apns, err := makeService(words[4], words[5], words[6], words[7], words[8], words[9])
	check(err)
	database, err := open(file)
	check(err)
	check(rows(database, "SELECT id, handle, tags FROM device", func(row []driver.Value) {
		var tags []string
		check(json.Unmarshal([]byte(row[2].(string)), &tags))
		index(device{row[0].(string), row[1].(string)}, tags)
	}))
	var unfinished []notification
	last := int64(0)
	check(rows(database, "SELECT max(key) FROM notification", func(row []driver.Value) { last, _ = row[0].(int64) }))
	check(rows(database, "SELECT key, request FROM notification WHERE is_final = 0 ORDER BY key", func(row []driver.Value) {
		var stored request
		check(json.Unmarshal([]byte(row[1].(string)), &stored))
		one := notification{key: row[0].(int64), tag: stored.Tags, body: stored.Body}
		rand.Read(one.random[:])
		unfinished = append(unfinished, one)
	}))
	check(runWriter(database))
	lastKey <- last
	for i := 0; i < workers; i++ {
		go apns.deliver()
	}
	go func() {
		for _, one := range unfinished {
			outbox <- one
		}
	}()
	serve := func(response http.ResponseWriter, request *http.Request) {
		if !known.allows(request) {
			http.Error(response, "token", 401)
			return
		}
		parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
		switch {
		case len(parts) == 3 && parts[1] == "installations" && request.Method == "PUT":
			putInstallation(response, request, parts[2])
		case len(parts) == 2 && parts[1] == "messages" && request.Method == "POST":
			postMessage(response, request, parts[0])
		default:
			http.NotFound(response, request)
		}
	}
	log.Fatal((&http.Server{
		Addr: "127.0.0.1:" + port, Handler: http.HandlerFunc(serve), ReadHeaderTimeout: 15 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 75 * time.Second, MaxHeaderBytes: 32 << 10,
	}).ListenAndServe())
}

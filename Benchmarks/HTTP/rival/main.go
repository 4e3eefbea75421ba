// A hub as a Go developer would write it with Debian's packages: net/http, encoding/xml, SQLite through the usual driver of
// database/sql. For one request it does the same as PushHost: verifies the token, parses and checks the body, stores it with
// synchronous=FULL in commits that waiting requests share, answers. It has no index of devices and delivers nothing.
//
//	rival PORT FILE KEYNAME KEY
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// MARK: Storage

// A change runs in the transaction of the requests that wait at the time.
type change struct {
	statement int
	values    []driver.Value
	done      chan error
}

const (
	upsertRegistration = iota
	insertNotification
	endNotification
)

var statements = []string{
	`INSERT INTO registration (id, etag, expiration, updated_at, platform, handle, tags, template)
	 VALUES (?, 1, ?, ?, ?, ?, ?, ?)
	 ON CONFLICT (id) DO UPDATE SET etag = etag + 1, expiration = excluded.expiration, updated_at = excluded.updated_at,
	 platform = excluded.platform, handle = excluded.handle, tags = excluded.tags, template = excluded.template`,
	`INSERT INTO notification (sequence, id, request, state, is_final, tags, enqueued_at) VALUES (?, ?, ?, 'Enqueued', 0, ?, ?)`,
	`UPDATE notification SET state = 'NoTargetFound', is_final = 1, started_at = ?, ended_at = ? WHERE sequence = ?`,
}

const schema = `
PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -32768;
CREATE TABLE registration (id TEXT PRIMARY KEY, etag INTEGER NOT NULL, expiration INTEGER NOT NULL, updated_at INTEGER NOT NULL,
	platform TEXT NOT NULL, handle TEXT NOT NULL, tags TEXT NOT NULL, template TEXT) WITHOUT ROWID;
CREATE TABLE notification (sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL,
	is_final INTEGER NOT NULL, tags TEXT, enqueued_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER);
CREATE UNIQUE INDEX notification_by_id ON notification (substr(id, 33), id);
CREATE INDEX notification_unfinished ON notification (sequence) WHERE is_final = 0;
CREATE INDEX notification_by_end ON notification (ended_at, sequence) WHERE is_final = 1;
`

var changes = make(chan change, 4096)

func write(statement int, values ...driver.Value) error {
	done := make(chan error, 1)
	changes <- change{statement, values, done}
	return <-done
}

func writer(path string, ready chan<- error) {
	connection, err := (&sqlite3.SQLiteDriver{}).Open(path)
	if err != nil {
		ready <- err
		return
	}
	database := connection.(*sqlite3.SQLiteConn)
	if _, err := database.Exec(schema, nil); err != nil {
		ready <- err
		return
	}
	var prepared []driver.Stmt
	for _, text := range statements {
		statement, err := database.Prepare(text)
		if err != nil {
			ready <- err
			return
		}
		prepared = append(prepared, statement)
	}
	ready <- nil
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
		_, err := database.Exec("BEGIN IMMEDIATE", nil)
		for _, one := range batch {
			if err != nil {
				break
			}
			_, err = prepared[one.statement].Exec(one.values)
		}
		if err == nil {
			_, err = database.Exec("COMMIT", nil)
		} else {
			database.Exec("ROLLBACK", nil)
		}
		for _, one := range batch {
			one.done <- err
		}
	}
}

// MARK: Tokens

type rule struct{ name, key string }

func (r rule) allows(request *http.Request) bool {
	text := request.Header.Get("Authorization")
	if !strings.HasPrefix(text, "SharedAccessSignature ") {
		return false
	}
	fields := map[string]string{}
	for _, part := range strings.Split(strings.TrimPrefix(text, "SharedAccessSignature "), "&") {
		name, value, _ := strings.Cut(part, "=")
		fields[name] = value
	}
	expiry, err := strconv.ParseInt(fields["se"], 10, 64)
	if err != nil || time.Now().Unix() > expiry || fields["skn"] != r.name {
		return false
	}
	signature, err := url.QueryUnescape(fields["sig"])
	if err != nil {
		return false
	}
	given, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(r.key))
	io.WriteString(mac, fields["sr"]+"\n"+fields["se"])
	if !hmac.Equal(mac.Sum(nil), given) {
		return false
	}
	resource, err := url.QueryUnescape(fields["sr"])
	if err != nil {
		return false
	}
	address, err := url.Parse(strings.ToLower(resource))
	return err == nil && address.Host == strings.ToLower(request.Host) && strings.HasPrefix(strings.ToLower(request.URL.Path)+"/", strings.TrimSuffix(address.Path, "/")+"/")
}

// MARK: Registrations

type description struct {
	XMLName      xml.Name
	Tags         string `xml:"Tags"`
	DeviceToken  string `xml:"DeviceToken"`
	BodyTemplate string `xml:"BodyTemplate"`
}

type entry struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom entry"`
	Content struct {
		Type  string      `xml:"type,attr"`
		Inner description `xml:",any"`
	} `xml:"content"`
}

var (
	tagShape  = regexp.MustCompile(`^[A-Za-z0-9_@#.:\-]{1,120}$`)
	idShape   = regexp.MustCompile(`^[0-9]{1,19}-[0-9]{1,19}-[0-9]+$`)
	variable  = regexp.MustCompile(`\$\(([A-Za-z0-9_]+)\)`)
	errNotOne = errors.New("not a registration")
)

func parseRegistration(body []byte) (*description, error) {
	var read entry
	if err := xml.Unmarshal(body, &read); err != nil {
		return nil, err
	}
	found := &read.Content.Inner
	if found.XMLName.Local != "AppleTemplateRegistrationDescription" {
		return nil, errNotOne
	}
	if token, err := hex.DecodeString(found.DeviceToken); err != nil || len(token) < 32 {
		return nil, errNotOne
	}
	for _, tag := range strings.Split(found.Tags, ",") {
		if !tagShape.MatchString(strings.TrimSpace(tag)) {
			return nil, errNotOne
		}
	}
	var template map[string]any
	if err := json.Unmarshal([]byte(found.BodyTemplate), &template); err != nil {
		return nil, err
	}
	variable.FindAllStringSubmatch(found.BodyTemplate, -1)
	return found, nil
}

const answer = `<entry a:etag="W/&quot;1&quot;" xmlns="http://www.w3.org/2005/Atom" xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><id>%s</id><title type="text">%s</title><published>%s</published><updated>%s</updated><link rel="self" href="%s"/><content type="application/xml"><AppleTemplateRegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999</ExpirationTime><RegistrationId>%s</RegistrationId><Tags>%s</Tags><DeviceToken>%s</DeviceToken><BodyTemplate><![CDATA[%s]]></BodyTemplate><Expiry i:nil="true"/><TemplateName i:nil="true"/></AppleTemplateRegistrationDescription></content></entry>`

func escaped(text string) string {
	var buffer bytes.Buffer
	xml.EscapeText(&buffer, []byte(text))
	return buffer.String()
}

func putRegistration(response http.ResponseWriter, request *http.Request, id string) {
	if !idShape.MatchString(id) {
		http.Error(response, "id", 400)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<18))
	if err != nil {
		http.Error(response, err.Error(), 413)
		return
	}
	read, err := parseRegistration(body)
	if err != nil {
		http.Error(response, err.Error(), 400)
		return
	}
	now := time.Now()
	tags, _ := json.Marshal(strings.Split(read.Tags, ","))
	if err := write(upsertRegistration, id, int64(253402300799999), now.UnixMilli(), "apns", read.DeviceToken, string(tags), read.BodyTemplate); err != nil {
		http.Error(response, err.Error(), 503)
		return
	}
	moment := now.UTC().Format("2006-01-02T15:04:05Z")
	address := escaped("http://" + request.Host + request.URL.RequestURI())
	header(response, "application/atom+xml;type=entry;charset=utf-8")
	response.Header().Set("ETag", `W/"1"`)
	response.Header().Set("Content-Location", "http://"+request.Host+request.URL.RequestURI())
	fmt.Fprintf(response, answer, address, id, moment, moment, address, id, escaped(read.Tags), read.DeviceToken, read.BodyTemplate)
}

// MARK: Messages

// A parser of tag expressions:
// under && under !, parentheses, tags.
type expression struct {
	text string
	at   int
	tags int
}

func (e *expression) blank() {
	for e.at < len(e.text) && e.text[e.at] == ' ' {
		e.at++
	}
}

func (e *expression) take(word string) bool {
	e.blank()
	if strings.HasPrefix(e.text[e.at:], word) {
		e.at += len(word)
		return true
	}
	return false
}

func (e *expression) either() bool {
	if !e.both() {
		return false
	}
	for e.take("||") {
		if !e.both() {
			return false
		}
	}
	return true
}

func (e *expression) both() bool {
	if !e.one() {
		return false
	}
	for e.take("&&") {
		if !e.one() {
			return false
		}
	}
	return true
}

func (e *expression) one() bool {
	if e.take("!") {
		return e.one()
	}
	if e.take("(") {
		return e.either() && e.take(")")
	}
	e.blank()
	start := e.at
	for e.at < len(e.text) && !strings.ContainsRune(" ()&|!", rune(e.text[e.at])) {
		e.at++
	}
	e.tags++
	return tagShape.MatchString(e.text[start:e.at]) && e.tags <= 20
}

var sequences = make(chan int64, 1)

func postMessage(response http.ResponseWriter, request *http.Request, hub string) {
	if request.Header.Get("ServiceBusNotification-Format") != "template" {
		http.Error(response, "format", 400)
		return
	}
	tags := request.Header.Get("ServiceBusNotification-Tags")
	if read := (&expression{text: tags}); tags != "" && (!read.either() || read.at != len(tags)) {
		http.Error(response, "tags", 400)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<18))
	if err != nil {
		http.Error(response, err.Error(), 413)
		return
	}
	var properties map[string]string
	if err := json.Unmarshal(body, &properties); err != nil {
		http.Error(response, err.Error(), 400)
		return
	}
	now := time.Now()
	kept, _ := json.Marshal(map[string]any{"tags": tags, "template": properties})
	sequence := <-sequences
	sequences <- sequence + 1
	var random [16]byte
	rand.Read(random[:])
	id := fmt.Sprintf("%x-%s-%d-1", random, now.UTC().Format("20060102150405"), sequence)
	if err := write(insertNotification, sequence, id, string(kept), tags, now.UnixMilli()); err != nil {
		http.Error(response, err.Error(), 503)
		return
	}
	go write(endNotification, now.UnixMilli(), time.Now().UnixMilli(), sequence)
	header(response, "application/xml; charset=utf-8")
	response.Header().Set("Location", fmt.Sprintf("http://%s/%s/messages/%s?api-version=2015-01", request.Host, hub, id))
	response.WriteHeader(201)
}

func header(response http.ResponseWriter, contentType string) {
	var random [16]byte
	rand.Read(random[:])
	id := fmt.Sprintf("%x-%x-%x-%x-%x", random[:4], random[4:6], random[6:8], random[8:10], random[10:])
	response.Header().Set("Content-Type", contentType)
	response.Header().Set("TrackingId", id)
	response.Header().Set("x-ms-correlation-request-id", id)
}

func main() {
	port, file, known := os.Args[1], os.Args[2], rule{os.Args[3], os.Args[4]}
	ready := make(chan error)
	go writer(file, ready)
	if err := <-ready; err != nil {
		log.Fatal(err)
	}
	sequences <- 1
	serve := func(response http.ResponseWriter, request *http.Request) {
		if !known.allows(request) {
			http.Error(response, "token", 401)
			return
		}
		parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
		switch {
		case len(parts) == 3 && parts[1] == "registrations" && request.Method == "PUT":
			putRegistration(response, request, parts[2])
		case len(parts) == 2 && parts[1] == "messages" && request.Method == "POST":
			postMessage(response, request, parts[0])
		default:
			http.NotFound(response, request)
		}
	}
	log.Fatal((&http.Server{Addr: "127.0.0.1:" + port, Handler: http.HandlerFunc(serve), ReadHeaderTimeout: 75 * time.Second}).ListenAndServe())
}

/// The requests of the rows of `docs/reference/authorization.md`, and those that create their objects. They are well-formed, so that only
/// the credential decides.
enum AuthorizationRequests {
    /// A block begins with the route of its row, without the quotes of code.
    /// - `path` replaces the route's path. Placeholders have the values of `AuthorizationBench.values`. `{new}` is a new name each time.
    /// - `body` and `header` belong to the request.
    /// - `make NAME CREDENTIAL METHOD PATH BODY` is sent before each allowed request. It sets `{NAME}` to the id in the response. The block
    ///   `world` is sent once.
    /// - `new` replaces `{hub}` by a new name; `last` sends the allowed requests after those of all other rows.
    static let text = #"""
        world
          make pad owner PUT /hub/installations/pad {padJSON}
          make pod owner PUT /hub/installations/pod {podJSON}
          make registration owner POST /hub/registrations {registrationXML}
          make notification owner POST /api/v1/hubs/hub/notifications {sendLaterJSON}
          make plan owner POST /api/v1/hubs/hub/plans {"audience": {"tagExpression": "one"}, "message": {"message": "Hi"}}
          make job owner POST /hub/jobs {jobXML}
          make approval asker POST /api/v1/hubs/hub/notifications {largeSendJSON}
          make run owner POST /api/v1/flows/manage/runs {}
          make schedule owner POST /api/v1/schedules {"name": "nightly", "flow": "manage", "cron": "0 3 1 1 *"}
          make key owner POST /api/v1/keys {"name": "spare", "rights": ["Listen"]}
          make hubKey owner POST /api/v1/hubs/hub/keys {"name": "hub-spare", "rights": ["Listen"]}
          make payload user POST /api/notifications {"to": "alice", "payload": {"pin": 1}}
          make mine user POST /api/register?handle={handle}04
          make mine user PUT /api/register/{mine} {"Platform": "apns", "Handle": "{handle}04", "Tags": []}
          make user owner POST /api/v1/users {"username": "carol", "password": "secret words"}
          make session lab POST /lab/sessions {"hub": "hub", "run": "r-0001"}
          make spare owner PUT /hub/installations/spare {"installationId": "spare", "platform": "apns", "pushChannel": "{handle}06"}
          make ending lab POST /lab/sessions {"hub": "hub", "run": "r-0001"}
          make phone lab POST /lab/sessions/{session}/phones {"name": "ana"}
        GET /api/v1/hubs
        POST /api/v1/hubs
          body {"name": "{new}"}
        GET /api/v1/hubs/{hub}
        DELETE /api/v1/hubs/{hub}
          make _ owner PUT /hub {hubXML}
          last
        GET /api/v1/hubs/{hub}/credentials
        POST /api/v1/hubs/{hub}/credentials/check
        PUT /api/v1/hubs/{hub}/credentials/apns
          body {"key": "none", "keyId": "ABCDEFGHIJ", "teamId": "ABCDEFGHIJ", "topic": "com.example"}
        DELETE /api/v1/hubs/{hub}/credentials/apns
        PUT /api/v1/hubs/{hub}/credentials/fcm
          body {"serviceAccount": "none"}
        DELETE /api/v1/hubs/{hub}/credentials/fcm
        PUT /api/v1/hubs/{hub}/credentials/wns
          body {"packageSid": "ms-app://s-1-15-2-1", "clientSecret": "none"}
        DELETE /api/v1/hubs/{hub}/credentials/wns
        PUT /api/v1/hubs/{hub}/credentials/browser
          body {"subject": "mailto:a@example.com", "privateKey": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"}
        DELETE /api/v1/hubs/{hub}/credentials/browser
        GET /api/v1/keys
          path /api/v1/keys?reveal=true
        POST /api/v1/keys
          body {"name": "{new}", "rights": ["Listen"]}
        POST /api/v1/keys/{name}/rotate
          body {"key": "primary"}
        DELETE /api/v1/keys/{name}
          make key owner POST /api/v1/keys {"name": "spare", "rights": ["Listen"]}
        GET /api/v1/hubs/{hub}/keys
          path /api/v1/hubs/{hub}/keys?reveal=true
        POST /api/v1/hubs/{hub}/keys
          body {"name": "{new}", "rights": ["Listen"]}
        POST /api/v1/hubs/{hub}/keys/{name}/rotate
          path /api/v1/hubs/{hub}/keys/{hubKey}/rotate
          body {"key": "primary"}
        DELETE /api/v1/hubs/{hub}/keys/{name}
          path /api/v1/hubs/{hub}/keys/{hubKey}
          make hubKey owner POST /api/v1/hubs/hub/keys {"name": "hub-spare", "rights": ["Listen"]}
        POST /api/v1/hubs/{hub}/devices/import
          body {"devices": [{"installation": {"installationId": "{new}", "platform": "apns", "pushChannel": "{handle}07"}}]}
        GET /api/v1/hubs/{hub}/devices/export
        GET /api/v1/hubs/{hub}/installations
        GET /api/v1/hubs/{hub}/installations/{id}
          path /api/v1/hubs/{hub}/installations/{pad}
        GET /api/v1/hubs/{hub}/registrations
        GET /api/v1/hubs/{hub}/pruned
        POST /api/v1/hubs/{hub}/pruned/restore
          body {"all": "everyone"}
        GET /api/v1/hubs/{hub}/pruned/held
        POST /api/v1/hubs/{hub}/pruned/apply
          body {"all": "everyone"}
        POST /api/v1/hubs/{hub}/pruned/drop
          body {"all": "everyone"}
        GET /api/v1/hubs/{hub}/tags
        GET /api/v1/hubs/{hub}/tags/explain
          path /api/v1/hubs/{hub}/tags/explain?expression=one
        POST /api/v1/tags/prove
          body {"first": "a", "second": "b"}
        POST /api/v1/hubs/{hub}/notifications
          body {"audience": {"tagExpression": "one"}, "message": {"message": "Hi"}}
        POST /api/v1/hubs/{hub}/send
          body {"to": {"user": "alice"}, "text": "Hi"}
        GET /api/v1/hubs/{hub}/notifications
        GET /api/v1/hubs/{hub}/notifications/{id}
          path /api/v1/hubs/{hub}/notifications/{notification}
        DELETE /api/v1/hubs/{hub}/notifications/{id}
          path /api/v1/hubs/{hub}/notifications/{notification}
          make notification owner POST /api/v1/hubs/hub/notifications {sendLaterJSON}
        GET /api/v1/hubs/{hub}/notifications/{id}/devices
          path /api/v1/hubs/{hub}/notifications/{notification}/devices
        GET /api/v1/hubs/{hub}/notifications/{id}/trace
          path /api/v1/hubs/{hub}/notifications/{notification}/trace
        POST /api/v1/hubs/{hub}/render
          body {"message": {"message": "Hi"}}
        POST /api/v1/hubs/{hub}/plans
          body {"audience": {"tagExpression": "one"}, "message": {"message": "Hi"}}
        GET /api/v1/hubs/{hub}/plans
        GET /api/v1/hubs/{hub}/plans/{id}
          path /api/v1/hubs/{hub}/plans/{plan}
        GET /api/v1/hubs/{hub}/plans/{id}/devices
          path /api/v1/hubs/{hub}/plans/{plan}/devices
        GET /api/v1/users
        POST /api/v1/users
          body {"username": "{new}", "password": "secret words"}
        PUT /api/v1/users/{user}/password
          body {"password": "other words"}
        DELETE /api/v1/users/{user}
          make user owner POST /api/v1/users {"username": "carol", "password": "secret words"}
        GET /api/v1/approvals
        GET /api/v1/approvals/{id}
          path /api/v1/approvals/{approval}
        POST /api/v1/approvals/{id}/approve
          path /api/v1/approvals/{approval}/approve
          body {}
          make approval asker POST /api/v1/hubs/hub/notifications {largeSendJSON}
        POST /api/v1/approvals/{own}/approve
          body {}
          make own caller POST /api/v1/hubs/hub/notifications {largeSendJSON}
        POST /api/v1/approvals/{id}/deny
          path /api/v1/approvals/{approval}/deny
          body {}
          make approval asker POST /api/v1/hubs/hub/notifications {largeSendJSON}
        GET /api/v1/audit
        GET /api/v1/audit/verification
        GET /api/v1/flows
        GET /api/v1/flows/{flow}
        POST /api/v1/flows/{flow}/runs
          body {}
        GET /api/v1/runs
        GET /api/v1/runs/{run}
        POST /api/v1/runs/{run}/cancel
        POST /api/v1/runs/{run}/rerun
        GET /api/v1/schedules
        POST /api/v1/schedules
          body {"name": "{new}", "flow": "manage", "cron": "0 3 1 1 *"}
        GET /api/v1/schedules/{schedule}
        DELETE /api/v1/schedules/{schedule}
          make schedule owner POST /api/v1/schedules {"name": "nightly", "flow": "manage", "cron": "0 3 1 1 *"}
        POST /api/v1/schedules/{schedule}/pause
          make schedule owner POST /api/v1/schedules {"name": "nightly", "flow": "manage", "cron": "0 3 1 1 *"}
        POST /api/v1/schedules/{schedule}/resume
        GET /
        PUT /{hub}
          body {emptyHubXML}
          new
        PUT /{hub} with If-Match
          body {hubXML}
          header If-Match: *
        GET /{hub}
        DELETE /{hub}
          make _ owner PUT /hub {hubXML}
          last
        POST /{hub}/registrationids
        GET /{hub}/registrations
        GET /{hub}/registrations with $filter
          path /{hub}/registrations?$filter=DeviceToken%20eq%20'{handle}03'
        POST /{hub}/registrations
          body {otherRegistrationXML}
        GET /{hub}/registrations/{id}
          path /{hub}/registrations/{registration}
        PUT /{hub}/registrations/{id}
          path /{hub}/registrations/{registration}
          body {registrationXML}
        DELETE /{hub}/registrations/{id}
          path /{hub}/registrations/{registration}
          make registration owner POST /hub/registrations {registrationXML}
        GET /{hub}/tags/{tag}/registrations
        GET /{hub}/installations/{id}
          path /{hub}/installations/{pad}
        PUT /{hub}/installations/{id}
          path /{hub}/installations/{pad}
          body {padJSON}
        PATCH /{hub}/installations/{id}
          path /{hub}/installations/{pad}
          body [{"op": "add", "path": "/tags", "value": "four"}]
        DELETE /{hub}/installations/{id}
          path /{hub}/installations/{spare}
          make spare owner PUT /hub/installations/spare {"installationId": "spare", "platform": "apns", "pushChannel": "{handle}06"}
        POST /{hub}/messages
          body {"message": "Hi"}
          header ServiceBusNotification-Format: template
          header ServiceBusNotification-Tags: one
        POST /{hub}/messages/$batch
          path /{hub}/messages/$batch?direct
          body {batch}
          header ServiceBusNotification-Format: apple
          header Content-Type: multipart/mixed; boundary=b
        GET /{hub}/messages/{id}
          path /{hub}/messages/{notification}
        POST /{hub}/schedulednotifications
          body {"message": "Hi"}
          header ServiceBusNotification-Format: template
          header ServiceBusNotification-Tags: one
          header ServiceBusNotification-ScheduleTime: {soon}
        DELETE /{hub}/schedulednotifications/{id}
          path /{hub}/schedulednotifications/{notification}
          make notification owner POST /api/v1/hubs/hub/notifications {sendLaterJSON}
        GET /{hub}/feedbackcontainer
        GET /{hub}/jobs
        POST /{hub}/jobs
          body {jobXML}
        GET /{hub}/jobs/{id}
          path /{hub}/jobs/{job}
        GET /feedback/{hub}
        GET /feedback/{hub} with its signature
          path /feedback/{hub}?{link}
          make link owner GET /hub/feedbackcontainer
        POST /api/login
          body {"username": "alice", "password": "words of alice"}
        POST /api/logout
          last
        POST /api/register
          path /api/register?handle={handle}05
        PUT /api/register/{id}
          path /api/register/{mine}
          body {"Platform": "apns", "Handle": "{handle}07", "Tags": []}
        DELETE /api/register/{id}
          path /api/register/{mine}
          make mine user POST /api/register?handle={handle}04
          make mine user PUT /api/register/{mine} {"Platform": "apns", "Handle": "{handle}04", "Tags": []}
        GET /api/notifications
        POST /api/notifications
          path /api/notifications?pns=apns&to_tag=bob
          body "Hi"
        GET /api/notifications/{id}
          path /api/notifications/{payload}
        GET /api/notifications/{id}/reads
          path /api/notifications/{payload}/reads
        DELETE /api/notifications/{id}
          path /api/notifications/{payload}
        POST /flows/{flow} with http: send
          path /flows/send
          body {}
        POST /flows/{flow} with http: listen
          path /flows/listen
          body {}
        POST /flows/{flow} with http: manage
          path /flows/manage
          body {}
        POST /flows/{flow} with http: account
          path /flows/account
          body {}
        POST /flows/{flow} with http: open
          path /flows/open
          body {}
        POST /flows/{flow} without http
          path /flows/{hidden}
          body {}
        GET /plugins/{plugin}/{path} with auth = { sas = "listen" }
          path /plugins/matrix/listen
        GET /plugins/{plugin}/{path} with auth = { sas = "send" }
          path /plugins/matrix/send
        GET /plugins/{plugin}/{path} with auth = { sas = "manage" }
          path /plugins/matrix/manage
        GET /plugins/{plugin}/{path} with auth = "account"
          path /plugins/matrix/account
        GET /plugins/{plugin}/{path} with auth = "open"
          path /plugins/matrix/open
        POST /plugins/{plugin}/{path} with auth = { webhook = "NAME" }
          path /plugins/matrix/hook
          body {}
        POST /lab/sessions
          body {"hub": "hub", "run": "r-0001"}
        GET /lab/sessions/{session}
        DELETE /lab/sessions/{session}
          path /lab/sessions/{ending}
          make ending lab POST /lab/sessions {"hub": "hub", "run": "r-0001"}
        GET /lab/sessions/{session}/phones
        POST /lab/sessions/{session}/phones
          body {"name": "{new}"}
        GET /lab/sessions/{session}/phones/{phone}
        GET /lab/sessions/{session}/phones/{phone}/handle
        GET /lab/sessions/{session}/phones/{phone}/inbox
        POST /lab/sessions/{session}/phones/{phone}/actions
          body {"action": "show", "title": "News", "body": "Hello"}
        GET /lab/sessions/{session}/phones/{phone}/storage
        PUT /lab/sessions/{session}/phones/{phone}/storage
          body {"key": "colour", "value": "red"}
        GET /lab/sessions/{session}/events
        GET /lab/sessions/{session}/wire
        GET /lab/sessions/{session}/trace
        GET /lab/sessions/{session}/faults/{service}
        POST /lab/sessions/{session}/faults/{service}
          body {"latency": 0}
        DELETE /lab/sessions/{session}/faults/{service}
        POST /lab/sessions/{session}/accounts
          body {"username": "{new}", "password": "words"}
        GET /lab/sessions/{session}/clock
        POST /lab/sessions/{session}/clock
          body {}
        POST /api/v1/backup
          body {"file": "../backup.sqlite"}
        POST /api/v1/restore
          body {"file": "../backup.sqlite"}
        POST /api/v1/apns/channels
          body {}
        GET /api/v1/server
        GET /api/v1/plugins
        GET /openapi.json
        GET /api/v1/about
        GET /health/live
        GET /health/ready
        GET /metrics
        OPTIONS *
        """#
}

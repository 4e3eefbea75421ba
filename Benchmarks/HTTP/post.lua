-- Sends template messages to users without devices. Arguments: token.
local number = 0

function init(arguments)
   token = arguments[1]
end

function request()
   number = number + 1
   return wrk.format("POST", "/hub/messages?api-version=2015-01", {
      ["Authorization"] = token, ["Content-Type"] = "application/json;charset=utf-8",
      ["ServiceBusNotification-Format"] = "template", ["ServiceBusNotification-Tags"] = "username:nobody" .. number .. " && !muted",
   }, [[{"message":"Order 4711 is on its way","detail":"It will arrive today between 10 and 12","order":"4711"}]])
end

function response(status, headers, body)
   if status ~= 201 then io.stderr:write("POST answered ", status, " ", body, "\n") wrk.thread:stop() end
end

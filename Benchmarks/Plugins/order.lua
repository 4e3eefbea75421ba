local items = {}
for number = 0, 19 do items[#items + 1] = string.format('{"name":"item %d","price":%d,"count":2}', number, number) end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"user":"ana","items":[' .. table.concat(items, ",") .. "]}"

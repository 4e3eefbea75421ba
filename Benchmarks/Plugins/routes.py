#!/usr/bin/env python3
"""Requests per second of a plugin's route, compared with nginx and its Lua module doing the same work on JSON.

Usage: routes.py PUSHHOST FOLDER. The server has one processor, wrk has the other. The servers take turns, and the best round counts.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request

ROUNDS, SECONDS, CONNECTIONS = 3, 4, 32
HERE = os.path.dirname(os.path.abspath(__file__))

PLUGIN = """
return {
  name = "order", version = "1.0",
  routes = { { method = "POST", path = "/total", auth = "open", run = function(request)
    local order = request.json
    local total = 0
    for _, item in ipairs(order.items) do total = total + item.price * item.count end
    order.total = total
    return { json = order }
  end } },
}
"""

NGINX = """
{modules}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  keepalive_requests 1000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location = /plugins/order/total {{
      content_by_lua_block {{
        local cjson = require "cjson"
        ngx.req.read_body()
        local order = cjson.decode(ngx.req.get_body_data())
        local total = 0
        for _, item in ipairs(order.items) do total = total + item.price * item.count end
        order.total = total
        ngx.header.content_type = "application/json"
        ngx.print(cjson.encode(order))
      }}
    }}
  }}
}}
"""


def wait(port, body):
    for _ in range(100):
        try:
            request = urllib.request.Request(f"http://127.0.0.1:{port}/plugins/order/total", data=body.encode(), method="POST")
            return json.load(urllib.request.urlopen(request, timeout=5))
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"no server responds on port {port}")


def rate(port):
    script = os.path.join(HERE, "order.lua")
    command = ["taskset", "-c", "1", "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", script, f"http://127.0.0.1:{port}/plugins/order/total"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in output or "Socket errors" in output:
        raise SystemExit(output)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))


def main():
    program, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(f"{folder}/plugins/order")
    with open(f"{folder}/plugins/order/init.lua", "w") as file:
        file.write(PLUGIN)
    with open(f"{folder}/plugins/plugins.yaml", "w") as file:
        file.write("- name: order\n")
    loads = [f"load_module /usr/lib/nginx/modules/{name};" for name in ("ndk_http_module.so", "ngx_http_lua_module.so")]
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(NGINX.format(modules="\n".join(loads), folder=folder, port=18091))
    environment = dict(os.environ, PUSHHOST_LOG_LEVEL="warning")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    servers = [
        subprocess.Popen(
            ["taskset", "-c", "0", program, "serve", "--port", "18090", "--tls-port", "none", "--data", f"{folder}/data"], cwd=folder,
            env=environment, **quiet),
        subprocess.Popen(["taskset", "-c", "0", "nginx", "-p", folder, "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"], **quiet),
    ]
    try:
        body = json.dumps({"user": "ana", "items": [{"name": f"item {number}", "price": number, "count": 2} for number in range(20)]})
        answers = [wait(port, body) for port in (18090, 18091)]
        if answers[0] != answers[1] or answers[0]["total"] != 380:
            raise SystemExit(f"the answers differ: {answers}")
        best = [0.0, 0.0]
        for _ in range(ROUNDS):
            for place, port in enumerate((18090, 18091)):
                best[place] = max(best[place], rate(port))
        print(f"a route that reads 20 items, sums them up and answers with them, requests per second on one processor")
        print(f"  pushhost      {best[0]:10.0f}")
        print(f"  nginx with Lua{best[1]:10.0f}   pushhost has {best[0] / best[1]:.2f} of it (goal: 0.20)")
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait()


main()

"""Makes the requests that it reads, one JSON object a line, with code generated from the schema.

Arguments: the folder of the schema, a folder for the generated code, the address, and a token or "".
A line is {"id", "rpc", "request"}, {"cancel": id}, {"id", "listen": {}}, {"id", "reflect": 1}
or {"id", "known": 1}. What comes back is {"id", "reply"} or {"id", "code", "details"}, and for a
stream {"id", "event"}.
"""

import glob
import json
import os
import sys
import threading

import grpc
import grpc_tools
from google.protobuf import json_format, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from grpc_tools import protoc

schema, folder, address, token = sys.argv[1:]
files = glob.glob(os.path.join(schema, "switchboard/**/*.proto"), recursive=True)
well_known = os.path.join(os.path.dirname(grpc_tools.__file__), "_proto")
words = ["protoc", f"-I{schema}", f"-I{well_known}", f"--python_out={folder}"]
if protoc.main(words + files) != 0:
    sys.exit("the schema cannot be compiled")
sys.path.insert(0, folder)
from switchboard.v1 import host_pb2, registry_pb2  # noqa: E402

SERVICES = {
    "host": host_pb2.DESCRIPTOR.services_by_name["HostService"],
    "registry": registry_pb2.DESCRIPTOR.services_by_name["MCPRegistryService"],
}
# Left alone, this library names the socket's path as the authority, which is none.
options = [("grpc.enable_http_proxy", 0), ("grpc.default_authority", "localhost")]
channel = grpc.insecure_channel(address, options=options)
metadata = [("authorization", f"Bearer {token}")] if token else []
lock = threading.Lock()
open_calls = {}


def tell(message):
    with lock:
        print(json.dumps(message, sort_keys=True), flush=True)


def shown(message):
    return json_format.MessageToDict(message, preserving_proto_field_name=True)


def method(service, name):
    found = SERVICES[service].methods_by_name[name]
    taken = message_factory.GetMessageClass(found.input_type)
    given = message_factory.GetMessageClass(found.output_type)
    return f"/{SERVICES[service].full_name}/{name}", taken, given


def failed(number, error):
    tell({"id": number, "code": error.code().name, "details": error.details()})


def call(number, service, name, request):
    path, taken, given = method(service, name)
    make = channel.unary_unary(path, taken.SerializeToString, given.FromString)
    future = make.future(json_format.ParseDict(request, taken()), metadata=metadata, timeout=60)
    open_calls[number] = future

    def ended(future):
        try:
            tell({"id": number, "reply": shown(future.result())})
        except grpc.FutureCancelledError:
            tell({"id": number, "code": "CANCELLED", "details": "here"})
        except grpc.RpcError as error:
            failed(number, error)

    future.add_done_callback(ended)


def listen(number, request):
    path, taken, given = method("host", "StreamEvents")
    make = channel.unary_stream(path, taken.SerializeToString, given.FromString)
    stream = make(json_format.ParseDict(request, taken()), metadata=metadata)
    open_calls[number] = stream

    def follow():
        try:
            for event in stream:
                tell({"id": number, "event": shown(event)})
            tell({"id": number, "reply": "ended"})
        except grpc.RpcError as error:
            failed(number, error)

    threading.Thread(target=follow, daemon=True).start()


for line in sys.stdin:
    asked = json.loads(line)
    if "cancel" in asked:
        open_calls[asked["cancel"]].cancel()
    elif "listen" in asked:
        listen(asked["id"], asked["listen"])
    elif "reflect" in asked:
        database = ProtoReflectionDescriptorDatabase(channel)
        known = database.FindFileContainingSymbol("switchboard.v1.HostService").service[0]
        names = sorted(one.name for one in known.method)
        tell({"id": asked["id"], "reply": [sorted(database.get_services()), names]})
    elif "known" in asked:
        call(asked["id"], "registry", "GetKnownServers", {})
    else:
        call(asked["id"], "host", asked["rpc"], asked["request"])

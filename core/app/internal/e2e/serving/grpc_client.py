"""A gRPC client of the tests: it calls the health service of a target.

Each line of the standard input is the name of a service to ask about. The answer is one
line: the header x-app of the answer, or "!", the status and its details.
"""

import sys

import grpc
import grpc.experimental

PATIENCE = 20  # seconds

# Plain text where there is no identity; the default is TLS with the CAs of the system.
credentials = grpc.xds_channel_credentials(grpc.experimental.insecure_channel_credentials())
with grpc.secure_channel(sys.argv[1], credentials) as channel:
    # Without serializers requests and responses are bytes.
    check = channel.unary_unary("/grpc.health.v1.Health/Check")
    for line in sys.stdin:
        service = line.rstrip("\n").encode()
        request = bytes([0x0A, len(service)]) + service if service else b""
        try:
            _, call = check.with_call(request, timeout=PATIENCE)
            print(dict(call.initial_metadata()).get("x-app", ""), flush=True)
        except grpc.RpcError as error:
            details = (error.details() or "").replace("\n", " ")
            print("!", error.code().name, details, flush=True)

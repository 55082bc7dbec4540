"""A gRPC server of the tests: a health service whose listener comes from xDS.

The arguments are the address and the value of the header x-app of its answers. It prints
a line when it has started, and ends with the standard input.
"""

from concurrent import futures
import sys

import grpc

address, app = sys.argv[1:]


class Health(grpc.GenericRpcHandler):
    """Answers each call with the status SERVING, as bytes."""

    def service(self, details):
        def check(request, context):
            context.send_initial_metadata((("x-app", app),))
            return bytes([0x08, 0x01])

        return grpc.unary_unary_rpc_method_handler(check)


server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Health()], xds=True)
# Plain text where there is no identity.
credentials = grpc.xds_server_credentials(grpc.insecure_server_credentials())
server.add_secure_port(address, credentials)
server.start()
print("started", flush=True)
sys.stdin.read()
server.stop(None).wait()

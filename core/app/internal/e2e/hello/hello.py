import sys

import grpc
import grpc.experimental  # import grpc alone lacks it

credentials = grpc.xds_channel_credentials(grpc.experimental.insecure_channel_credentials())
with grpc.secure_channel(sys.argv[1], credentials) as channel:
    check = channel.unary_unary("/grpc.health.v1.Health/Check")  # of bytes
    answer = check(b"", wait_for_ready=True)
    print("SERVING" if answer == b"\x08\x01" else answer)

"""The API of the cluster on this machine, over one connection."""
import http.client
import json
import ssl


class Away(Exception):
    """No answer: it was killed."""


class Api:
    jobs = "/apis/elasticdeeplearning.ai/v1/namespaces/default/aitrainingjobs"
    pods = "/api/v1/namespaces/default/pods"

    def __init__(self, home):
        with open(home + "/token", encoding="ascii") as f:
            self.token = f.read().strip()
        with open(home + "/port", encoding="ascii") as f:
            port = int(f.read())
        context = ssl.create_default_context(cafile=home + "/ca.pem")
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)

    def call(self, method, path, body=None):
        """The status and the object."""
        try:
            self.connection.request(method, path, json.dumps(body) if body else None,
                                    {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as e:
            self.connection.close()
            raise Away("no answer: %s" % e) from e

"""The jobs that are measured."""


def tf_job(name, replicas):
    """One master, and workers."""
    template = {"spec": {"restartPolicy": "OnFailure", "containers": [{"name": "tensorflow", "image": "tf:1"}]}}
    specs = [{"replicas": 1, "tfReplicaType": "MASTER", "template": template},
             {"replicas": replicas - 1, "tfReplicaType": "WORKER", "template": template}]
    return {"apiVersion": "mlkube.io/v1beta1", "kind": "TfJob", "metadata": {"name": name},
            "spec": {"replicaSpecs": specs}}


def training_job(name, replicas):
    container = {"name": "aitj-trainer", "image": "paddle:1",
                 "ports": [{"name": "aitj-24446", "containerPort": 24446}]}
    return {"apiVersion": "elasticdeeplearning.ai/v1", "kind": "AITrainingJob", "metadata": {"name": name},
            "spec": {"replicaSpecs": {"trainer": {"replicas": replicas, "template": {
                "spec": {"restartPolicy": "Never", "containers": [container]}}}}}}


def of_two(n):
    return [training_job(f"job-{i}", 2) for i in range(n)]


def large(n, replicas):
    return [tf_job(f"large-{i}", replicas) for i in range(n)]


# name -> what it is, the large jobs, and the seconds between the small ones that are made meanwhile
BESIDE = {
    "fair": ("jobs of 2 replicas, made while 8 TfJobs of 1,000 start", large(8, 1000), 0.15),
    "small-fair": ("jobs of 2 replicas beside 2 of 50, to see that the bench works", large(2, 50), 0.02),
}

# name -> what it is, the jobs, how many pods they have (and as many services)
CASES = {
    "one": ("one TfJob of 1,000 replicas", [tf_job("big", 1000)], 1000),
    "many": ("500 AITrainingJobs of 2 replicas", of_two(500), 1000),
    "large": ("1,000 AITrainingJobs of 10 replicas, once", [training_job(f"job-{i}", 10) for i in range(1000)], 10000),
    "small": ("5 AITrainingJobs of 2 replicas, to see that the bench works", of_two(5), 10),
}

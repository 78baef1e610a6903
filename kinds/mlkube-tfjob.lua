-- TfJob of mlkube.io: TensorFlow with MASTER, WORKER and PS replicas that find each other through
-- TF_CONFIG. Both spellings of its fields are taken, as both were published under one version.

local common = use("common")

local TYPES = { "MASTER", "PS", "WORKER" }

-- What a PS without a template runs: a server that is what TF_CONFIG says. Works with TensorFlow 1 and 2.
local SERVER = [[
import json, os
import tensorflow as tf
v1 = getattr(getattr(tf, "compat", tf), "v1", tf)
config = json.loads(os.environ["TF_CONFIG"])
task = config["task"]
v1.train.Server(v1.train.ClusterSpec(config["cluster"]), job_name=str(task["type"]), task_index=task["index"]).join()
]]

local function default_ps(image)
  return { spec = { restartPolicy = "OnFailure", containers = { {
    name = "tensorflow", image = image, command = { "python", "-c", SERVER },
  } } } }
end

-- <job>-<type>-<runtime id>: the beginning of every child's name.
local function base(job_name, role_name, rid)
  return string.sub(job_name, 1, 40) .. "-" .. role_name .. "-" .. lower(rid)
end

-- The replica whose end is the job's: the user's choice, or MASTER 0, or without one WORKER 0.
local function chief_of(spec)
  local there = {}
  for _, r in ipairs(spec.replicaSpecs) do
    there[r.tfReplicaType] = true
  end
  if spec.terminationPolicy then
    local chief = spec.terminationPolicy.chief
    return { role = lower(chief.replicaName), index = chief.replicaIndex }, true
  elseif there.MASTER or there.WORKER then
    return { role = there.MASTER and "master" or "worker", index = 0 }
  end
  invalid(spec, "replicaSpecs", "needs a MASTER or a WORKER: without one the job would never end")
end

local function read(spec, meta)
  local rid = common.runtime_id(spec, meta)
  local chief, chosen = chief_of(spec)
  local roles = list()
  for _, r in ipairs(spec.replicaSpecs) do
    local name = lower(r.tfReplicaType)
    local template = r.template or name == "ps" and default_ps(spec.tfImage) or nil
    local restarts = common.restarts(template)
    if name == "master" and r.replicas ~= 1 then
      invalid(r, "replicas", "there must be exactly one MASTER")
    end
    table.insert(roles, {
      name = name, title = r.tfReplicaType, path = at(r), count = r.replicas, service = true,
      template = template, containers = { name = "tensorflow" },
      ports = { { name = "tf-port", port = r.tfPort } },
      default = { restart = { policy = restarts } }, chief = restarts ~= "Never" and common.CHIEF or nil,
      fields = { name = spelt(r, "tfReplicaType"), count = "replicas", ports = spelt(r, "tfPort") },
    })
  end
  if spec.tensorboard and spec.tensorboard.logDir == "" then
    invalid(spec.tensorboard, "logDir", "must not be empty")
  end
  return {
    roles = roles,
    own = { complete = chosen and chief or nil, tensorboard = spec.tensorboard },
    default = {
      complete = chief, restart = { scope = "Pod", limit = 6 }, cleanPods = "Running",
      tensorboard = { image = spec.tfImage },
    },
    fields = { complete = "terminationPolicy.chief" },
    tensorboard = {
      name = base(meta.name, "tensorboard", rid),
      labels = { ["mlkube.io"] = "", runtime_id = rid, app = "tensorboard" },
    },
  }, { rid = rid }
end

local function names(job, role, index)
  local name = base(job.name, role.name, job.data.rid) .. "-" .. index
  return name, name
end

local function once(job)
  return { cluster = common.tf_cluster(job, function(role)
    return base(job.name, role.name, job.data.rid) .. "-", ":" .. role.ports[1].port
  end, "") }
end

local function labels(job, role, index)
  return {
    ["mlkube.io"] = "", job_type = role.title, runtime_id = job.data.rid, tf_job_name = job.name, task_index = index,
  }
end

local function pod(job, role, index)
  local task = role.name .. '","index":' .. index .. '},"environment":"cloud"}'
  return { labels = labels(job, role, index), env = { { "TF_CONFIG", { job.once.cluster, task } } } }
end

local function service(job, role, index)
  return { labels = labels(job, role, index) }
end

local function status(job, st)
  return common.state_status(st, "tf_replica_type")
end

local function write(roles, template)
  template = common.write_template(template, "tensorflow")
  return { replicaSpecs = common.write_roles(roles, template, "tfReplicaType", upper) }
end

return {
  group = "mlkube.io", version = "v1beta1", kind = "TfJob", plural = "tfjobs", short = { "mlktf" },
  spec = { "object", fields = {
    RuntimeId = common.RUNTIME_ID,
    replicaSpecs = { "array", also = { "replica_specs" }, required = true, min = 1, description = "the roles",
      items = { "object", fields = {
      replicas = { "int", default = 1, min = 0, max = 100000, description = "how many pods the role has; default: 1" },
      template = { "template", description = "the pod; its container `tensorflow` counts; a PS may go without" },
      tfPort = { "int", also = { "tf_port" }, default = 2222, min = 1, max = 65535,
        description = "where it listens; default: 2222" },
      tfReplicaType = { "enum", also = { "tf_replica_type" }, values = TYPES, default = "MASTER",
        description = "which role it is; default: MASTER" },
      IsDefaultPS = { "bool", description = "written by an older operator; not used" },
    } } },
    tfImage = { "string", default = "tensorflow/tensorflow:1.3.0",
      description = "of TensorBoard and of a PS without template" },
    tensorboard = { "object", description = "the same as policy.tensorboard", fields = {
      logDir = { "string", required = true, description = "where the training writes its events" },
      image = { "string", description = "default: tfImage" },
      volumes = { "any", description = "of the pod" },
      volumeMounts = { "any", description = "of its container" },
      serviceType = { "enum", values = { "ClusterIP", "NodePort", "LoadBalancer" },
        description = "default: ClusterIP" },
      ttlSecondsAfterFinished = { "int", min = 0, max = 2147483647,
        description = "seconds after the end of the job until it is deleted; default: with the job" },
    } },
    terminationPolicy = common.termination_policy(TYPES),
  } },
  read = read, names = names, once = once, pod = pod, service = service, status = status,
  adopt = common.state_adopt, write = write,
}

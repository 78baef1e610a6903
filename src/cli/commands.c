/* The table of commands. --help is made of it. */
#include "cli/commands.h"

const struct cli_command commands[] = {
	{ "run", "FILE… | [-n N] -- COMMAND…", "run a command N times, or a job's file, on this machine",
	  "Runs N replicas of COMMAND as one job, with the variables that torchrun would set, or the job in\n"
	  "FILE (- is standard input). Each replica is a process with an address of its own, and is reachable\n"
	  "by the name that it has in a cluster. Each line of output is prefixed with the replica's name.\n"
	  "A command inherits your environment and needs no manifest; -o yaml prints one for a cluster.\n"
	  "FILE may contain ConfigMaps and Secrets, too.\n"
	  "Images are not pulled: commands run in the machine's own file system, in the current directory.\n"
	  "Ctrl-C stops the job with its grace period, a second Ctrl-C at once. Nothing is left behind.\n"
	  "Exit status: 0 the job succeeded, 1 it failed, 2 it is invalid, 124 timed out, 130 interrupted.\n",
	  "dljob run -n 3 --env LR=0.1 -- python train.py --epochs 3", cmd_run },
	{ "init", "[FILE] [-- COMMAND…]", "write a manifest to start from",
	  "Prints the manifest of a job that runs COMMAND (python train.py), with comments on what is usually\n"
	  "changed, or writes it to FILE, which must not exist yet. The options are the same as those of\n"
	  "'dljob run', as far as they change the manifest.\n",
	  "dljob init job.yaml -n 3 --image registry/train:1 -- python train.py", cmd_init },
	{ "local", "up|down|status|kubeconfig|reset", "a cluster on this machine, in the background",
	  "up starts an API server for kubectl and dljob (on 127.0.0.1, with a token), the operator, and a\n"
	  "runner that runs pods as processes. down stops all pods, then the cluster; the jobs are kept and\n"
	  "continue at the next up. status shows whether the cluster is up, kubeconfig prints the path of its\n"
	  "kubeconfig, and reset --yes deletes everything: jobs, logs, keys.\n"
	  "Its files are in $DLJOB_HOME, else $XDG_STATE_HOME/dljob, else ~/.local/state/dljob.\n",
	  "dljob local up && dljob submit --local job.yaml --logs", cmd_local },
	{ "list", "[KIND…]", "list the jobs of a cluster, with the reason for their state",
	  "Prints a line for each job of all kinds, or of the named ones (TfJob, aitj, MXJob.mpba.fbk.eu …),\n"
	  "newest first. The cluster is the one that kubectl would use; with --local, or if there is no\n"
	  "kubeconfig, the one on this machine.\n",
	  "dljob list -A --state Running", cmd_list },
	{ "get", "[KIND/]NAME", "show one job: roles, replicas, and the reason for their state",
	  "Shows the job as a tree of roles and replicas with state, restarts, exit code, node and pod, the\n"
	  "reason for its state, and the last events of the job and its pods.\n"
	  "With -w the tree is redrawn whenever something changes; if standard output is not a terminal, each\n"
	  "change is a line.\n",
	  "dljob get tfjob/mnist -w", cmd_get },
	{ "logs", "[KIND/]NAME", "show the logs of all replicas, in one stream",
	  "Shows the logs of all replicas ordered by time, each line prefixed with its replica's name.\n"
	  "-f follows them until the job has ended, across restarts and including new pods. Without\n"
	  "--container only the containers that count are shown: those whose exit code decides.\n"
	  "--archive writes the logs of all containers to files instead, so that they outlive their pods;\n"
	  "with -f it keeps following, and when it is run again it continues where it stopped. --from shows\n"
	  "archived logs.\n",
	  "dljob logs -f mnist --role worker", cmd_logs },
	{ "exec", "[KIND/]NAME REPLICA [-- COMMAND…]", "run a command in a running replica",
	  "Runs COMMAND beside the replica's own program, with its variables, files and limits. 'dljob get'\n"
	  "lists the replicas: worker-0, worker-1 … Without COMMAND it runs sh with a terminal. With -t the\n"
	  "command gets your terminal, so that a breakpoint() of Python works; Ctrl-C goes to the command.\n"
	  "The command ends when dljob ends.\n"
	  "Exit status: the command's; 1 if the command could not run.\n",
	  "dljob exec -t mnist worker-0 -- python train.py --epochs 1", cmd_exec },
	{ "cp", "[KIND/]NAME FILE TARGET", "copy files to or from a running replica",
	  "Copies a file or a folder. One of the two paths is REPLICA:PATH, with the replica as 'dljob get'\n"
	  "shows it; the other is a path on this machine. If the target is a folder, the copy goes into it.\n"
	  "The container must have tar.\n",
	  "dljob cp mnist worker-0:out/model.pt .", cmd_cp },
	{ "port-forward", "[KIND/]NAME REPLICA [HERE:]PORT…", "reach a port of a replica from this machine",
	  "Listens on 127.0.0.1 and forwards each connection to PORT of the replica's loopback, until Ctrl-C.\n"
	  "HERE is the port on this machine: PORT itself if it is not given, any free port if it is 0.\n",
	  "dljob port-forward mnist worker-0 8080", cmd_port_forward },
	{ "top", "[KIND/]NAME", "show how much CPU, memory and GPU each replica uses",
	  "Prints a line for each running replica, as metrics.k8s.io measures it. A cluster needs\n"
	  "metrics-server for that; the cluster on this machine measures for a second. --gpus runs nvidia-smi\n"
	  "in each replica.\n",
	  "dljob top mnist --gpus", cmd_top },
	{ "wait", "[KIND/]NAME…", "wait until a job runs or has ended",
	  "Waits for the state in --for. The last line shows the job's state and the reason for it.\n"
	  "Exit status: 0 the state was reached, 1 the job failed or was deleted, 124 timed out.\n",
	  "dljob wait mnist --timeout 2h && echo trained", cmd_wait },
	{ "submit", "FILE…", "create jobs on a cluster",
	  "Validates the jobs of all files (- is standard input) as 'dljob validate' does, then creates them,\n"
	  "after the ConfigMaps, Secrets, Services and PersistentVolumeClaims of these files. If anything is\n"
	  "wrong, nothing is created. A value of --set is YAML; null removes the field.\n",
	  "dljob submit job.yaml --suffix lr3 --env LR=0.3 --logs", cmd_submit },
	{ "rerun", "[KIND/]NAME", "run a job again that has ended",
	  "Creates a new job from the old one's spec, labels and annotations, named NAME-2, NAME-3 … or as\n"
	  "--name says. --replace deletes the old job first and reuses its name.\n",
	  "dljob rerun mnist --set spec.policy.restart.limit=3", cmd_rerun },
	{ "scale", "[KIND/]NAME ROLE=N…", "change the number of replicas of a role",
	  "Changes the kind's own field. If the replicas' variables list all members, as in all kinds except\n"
	  "AITrainingJob with edlPolicy, the whole job restarts; that restart does not count against the\n"
	  "limit.\n",
	  "dljob scale mnist worker=4", cmd_scale },
	{ "suspend", "[KIND/]NAME…", "delete a job's pods until it is resumed",
	  "Sets policy.suspend: the pods are deleted, the job stays. 'dljob resume' continues it.\n",
	  "dljob suspend mnist", cmd_suspend },
	{ "resume", "[KIND/]NAME…", "resume a suspended job", "Clears policy.suspend: the pods are recreated.\n",
	  "dljob resume mnist", cmd_resume },
	{ "delete", "[KIND/]NAME…", "delete jobs with their pods and services",
	  "Deletes jobs by name, those in files (-f), or all of a namespace, and waits until they are gone.\n"
	  "Their pods and services are garbage-collected.\n",
	  "dljob delete -f job.yaml", cmd_delete },
	{ "render", "FILE…", "print the pods and services of a job",
	  "Reads jobs from FILE (- is standard input) and prints every service and pod that the operator\n"
	  "would create for them. No cluster is contacted. Names that depend on the job's UID use --uid, or a\n"
	  "UID derived from namespace and name.\n",
	  "dljob render -o json job.yaml | jq -r '.items[].metadata.name'", cmd_render },
	{ "validate", "FILE…", "report all mistakes in manifests of jobs",
	  "Reads all documents of all files (- is standard input) and prints all problems at once, as\n"
	  "file:line:column: error: field: message. Objects that are not jobs are skipped.\n"
	  "The exit status is 2 if there is an error.\n",
	  "dljob validate examples/*/*.yaml", cmd_validate },
	{ "kinds", "[EXAMPLE…]", "list the kinds of jobs, or check a new one",
	  "Prints a line for each kind, built in or added with --kinds-dir. --check FILE.lua runs a kind of\n"
	  "your own on examples instead: reading, pods, services, and the status in every phase.\n",
	  "dljob kinds --check ring.lua job.yaml", cmd_kinds },
	{ "crds", "[KIND…]", "print the CustomResourceDefinitions",
	  "Prints the CRDs (apiextensions.k8s.io/v1) of all kinds, or of the named ones: by kind (TfJob),\n"
	  "plural (tfjobs), short name, or with the group (MXJob.mpba.fbk.eu).\n",
	  "dljob crds | kubectl apply -f -", cmd_crds },
	{ "pod", "FOLDER", NULL,
	  "The parent process of one pod on this machine. 'dljob run' and 'dljob local' start it; it is of no\n"
	  "use by hand.\n",
	  "dljob pod FOLDER", cmd_pod },
	{ "completion", "bash|zsh", "print a completion script for a shell",
	  "The script completes commands, options, kinds, files and the names of jobs, by calling dljob.\n"
	  "'make install' installs it; otherwise source it in ~/.bashrc or ~/.zshrc.\n",
	  "source <(dljob completion bash)", cmd_completion },
	{ "__complete", "WORD…", NULL, "The shell completion scripts call it.\n", "dljob __complete -- get de",
	  cmd_complete },
	{ "version", "", "print the version", "Prints the version.\n", "dljob version", cmd_version },
	{ "help", "[COMMAND]", "explain a command", "Explains a command, or lists them all.\n", "dljob help render",
	  cmd_help },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};

const struct cli_command *command_find(struct str name)
{
	for (const struct cli_command *c = commands; c->name; c++)
		if (str_eqc(name, c->name))
			return c;
	return NULL;
}

void command_describe(struct cli *cli, const struct cli_command *c)
{
	cli->command = c;
	c->run(cli, 0, NULL);
}

void commands_help(const struct cli *cli, FILE *to)
{
	fprintf(to,
	        "%s runs and manages deep-learning training jobs.\n\n"
	        "usage: %s COMMAND [options] [arguments]\n\n"
	        "Commands:\n",
	        cli->program, cli->program);
	for (const struct cli_command *c = commands; c->name; c++)
		if (c->summary)
			fprintf(to, "  %-12s %s\n", c->name, c->summary);
	fputs("\nOptions of every command:\n"
	      "      --kinds-dir DIR     also load the *.lua files in DIR (or DL_OPERATOR_KINDS=DIR:DIR)\n"
	      "  -h, --help              explain the command, with an example\n"
	      "\nExit status: 0 success, 1 failed, 2 invalid input or wrong usage, 124 timed out, 130 interrupted.\n",
	      to);
}

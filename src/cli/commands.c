/* The table of commands. --help is made of it. */
#include "cli/commands.h"

const struct command commands[] = {
	{ "run", "FILE… | [-n N] -- COMMAND…", "run a command N times, or a job's file, on this machine",
	  "Runs N replicas of COMMAND as one job, with the variables that torchrun would give them, or the one\n"
	  "job in FILE (- is standard input). Replicas are processes, each with an address of its own, under\n"
	  "the names that they have in a cluster. Their output is shown with the replica's name in front.\n"
	  "A command has the caller's environment, and no manifest: -o yaml prints the one for a cluster.\n"
	  "ConfigMaps and Secrets may stand beside a job in FILE.\n"
	  "Images are not pulled: commands run in the machine's own file system, from the current directory.\n"
	  "Ctrl-C stops the job with its grace period, a second one at once. Nothing is left behind.\n"
	  "Exit status: 0 it succeeded, 1 it failed, 2 it is invalid, 124 timed out, 130 interrupted.\n",
	  "dljob run -n 3 --env LR=0.1 -- python train.py --epochs 3", cmd_run },
	{ "init", "[FILE] [-- COMMAND…]", "write a manifest to begin with",
	  "Prints the manifest of a job that runs COMMAND (python train.py), with comments on what is usually\n"
	  "changed, or writes it into FILE, which must not be there yet. The options are those of\n"
	  "'dljob run' that say what is written.\n",
	  "dljob init job.yaml -n 3 --image registry/train:1 -- python train.py", cmd_init },
	{ "local", "up|down|status|kubeconfig|reset", "a cluster on this machine, in the background",
	  "up starts it: an API that kubectl and dljob speak to, on 127.0.0.1 with a token; the operator; and\n"
	  "what runs pods as processes. Jobs are kept when it goes down, and go on when it comes up again.\n"
	  "down ends all pods, then itself. status says whether it is up; kubeconfig prints the path of its\n"
	  "kubeconfig; reset --yes removes everything: jobs, logs, keys.\n"
	  "Its files are in $DLJOB_HOME, else $XDG_STATE_HOME/dljob, else ~/.local/state/dljob.\n",
	  "dljob local up && dljob submit --local job.yaml --logs", cmd_local },
	{ "list", "[KIND…]", "the jobs of a cluster, and why each is where it is",
	  "A line for each job of all kinds, or of those that are named (TfJob, aitj, MXJob.mpba.fbk.eu …),\n"
	  "the newest first. The cluster is the one that kubectl would use; with --local, or where there is\n"
	  "no kubeconfig, the one on this machine.\n",
	  "dljob list -A --state Running", cmd_list },
	{ "get", "[KIND/]NAME", "show one job: roles, replicas, and the reason for their state",
	  "Shows the job as a tree of roles and replicas with state, restarts, exit code, node and pod, the one\n"
	  "line that says why it is where it is, and the last events of the job and its pods.\n"
	  "With -w the tree is drawn anew whenever something changes; each change is a line where standard\n"
	  "output is no terminal.\n",
	  "dljob get tfjob/mnist -w", cmd_get },
	{ "logs", "[KIND/]NAME", "what all replicas of a job have written, in one stream",
	  "Shows the logs of all replicas in the order of time, each line with its replica's name in front.\n"
	  "With -f it goes on until the job has ended, over restarts and with new pods. Without --container\n"
	  "only containers that count are shown: those whose exit code decides.\n"
	  "With --archive the logs of all containers are kept in files instead, also of pods that are removed\n"
	  "later; with -f it goes on, and started again it goes on where it was. --from shows them.\n",
	  "dljob logs -f mnist --role worker", cmd_logs },
	{ "wait", "[KIND/]NAME…", "wait until a job has ended, or runs",
	  "Waits for what --for says; the last line says what became of the job, and why.\n"
	  "Exit status: 0 as wanted, 1 the job failed or was deleted, 124 timed out.\n",
	  "dljob wait mnist --timeout 2h && echo trained", cmd_wait },
	{ "submit", "FILE…", "send jobs to a cluster",
	  "Checks all jobs of all files (- is standard input) as 'dljob validate' does, then creates them, and\n"
	  "the ConfigMaps, Secrets, Services and PersistentVolumeClaims beside them. Nothing is sent if\n"
	  "anything is wrong. A value of --set is read as YAML; null removes the field.\n",
	  "dljob submit job.yaml --suffix lr3 --env LR=0.3 --logs", cmd_submit },
	{ "rerun", "[KIND/]NAME", "run a job that has ended once more",
	  "Makes a new job of the old one's spec, labels and annotations: NAME-2, NAME-3 … unless --name says\n"
	  "otherwise. With --replace the old one is deleted first, and its name used.\n",
	  "dljob rerun mnist --set spec.policy.restart.limit=3", cmd_rerun },
	{ "scale", "[KIND/]NAME ROLE=N…", "change how many replicas a role has",
	  "Changes the number in the kind's own field. Where the replicas' environment names all members, which\n"
	  "is so in all kinds but for AITrainingJob with edlPolicy, the whole job starts again; this is not\n"
	  "counted as a restart.\n",
	  "dljob scale mnist worker=4", cmd_scale },
	{ "suspend", "[KIND/]NAME…", "delete a job's pods and wait",
	  "Sets policy.suspend: the pods are deleted, the job stays. 'dljob resume' lets it go on.\n",
	  "dljob suspend mnist", cmd_suspend },
	{ "resume", "[KIND/]NAME…", "resume a suspended job", "Clears policy.suspend: the pods are made again.\n",
	  "dljob resume mnist", cmd_resume },
	{ "delete", "[KIND/]NAME…", "delete jobs, with all that belongs to them",
	  "Deletes jobs by name, of files (-f), or all of a namespace, and waits until they are gone. Their\n"
	  "pods and services go with them.\n",
	  "dljob delete -f job.yaml", cmd_delete },
	{ "render", "FILE…", "print the pods and services that a job would be given",
	  "Reads jobs from FILE (- is standard input) and prints every service and pod that the operator\n"
	  "would make for them. Nothing is sent anywhere. Names that depend on the job's UID are made with\n"
	  "--uid, or with one that is derived from namespace and name.\n",
	  "dljob render -o json job.yaml | jq -r '.items[].metadata.name'", cmd_render },
	{ "validate", "FILE…", "report everything that is wrong with jobs",
	  "Reads all documents of all files (- is standard input) and prints all problems at once, as\n"
	  "file:line:column: error: field: message. Objects that are not jobs are skipped.\n"
	  "Exit status 2: something is wrong.\n",
	  "dljob validate examples/*/*.yaml", cmd_validate },
	{ "kinds", "[EXAMPLE…]", "list the kinds of jobs that are known, or try a new one",
	  "A line for each kind, compiled in or added with --kinds-dir. With --check the kind of one Lua file\n"
	  "is tried instead: reading, pods, services, and the status in every phase.\n",
	  "dljob kinds --check ring.lua job.yaml", cmd_kinds },
	{ "crds", "[KIND…]", "print the CustomResourceDefinitions",
	  "Prints the definitions (apiextensions.k8s.io/v1) of all kinds, or of those that are named: by kind\n"
	  "(TfJob), plural (tfjobs), short name, or with the group behind (MXJob.mpba.fbk.eu).\n",
	  "dljob crds | kubectl apply -f -", cmd_crds },
	{ "pod", "FOLDER", NULL,
	  "The parent process of one pod on this machine. Whoever runs pods starts it; it is of no use by hand.\n",
	  "dljob pod FOLDER", cmd_pod },
	{ "completion", "bash|zsh", "print the script that completes commands in a shell",
	  "The script asks dljob itself: commands, options, kinds, files and the names of jobs are completed.\n"
	  "'make install' puts it where shells look; otherwise read it in ~/.bashrc or ~/.zshrc.\n",
	  "source <(dljob completion bash)", cmd_completion },
	{ "__complete", "WORD…", NULL, "What the completion of shells asks.\n", "dljob __complete -- get de",
	  cmd_complete },
	{ "version", "", "print the version", "Prints the version.\n", "dljob version", cmd_version },
	{ "help", "[COMMAND]", "explain a command", "Explains a command, or lists them all.\n", "dljob help render",
	  cmd_help },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};

const struct command *command_find(struct str name)
{
	for (const struct command *c = commands; c->name; c++)
		if (str_eqc(name, c->name))
			return c;
	return NULL;
}

void command_describe(struct cli *cli, const struct command *c)
{
	cli->command = c;
	c->run(cli, 0, NULL);
}

void commands_help(const struct cli *cli, FILE *to)
{
	fprintf(to,
	        "%s: deep-learning training jobs, as files.\n\n"
	        "usage: %s COMMAND [options] [arguments]\n\n"
	        "Commands:\n",
	        cli->program, cli->program);
	for (const struct command *c = commands; c->name; c++)
		if (c->summary)
			fprintf(to, "  %-10s %s\n", c->name, c->summary);
	fputs("\nOptions of every command:\n"
	      "      --kinds-dir DIR     load the *.lua of DIR too (several times; also DL_OPERATOR_KINDS=DIR:DIR)\n"
	      "  -h, --help              explain the command, with an example\n"
	      "\nExit status: 0 success, 1 failed, 2 invalid input or wrong usage, 124 timed out, 130 interrupted.\n",
	      to);
}

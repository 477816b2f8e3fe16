"""HD6xx: Hadoop: the cluster, the GPU driver, submitting."""

from __future__ import annotations

from .entry import Entry

CODES: dict[str, Entry] = {
    "HD600": Entry(
        "no logs of that name",
        "heterodoop cluster logs takes a server's name, as heterodoop cluster status lists them, or the id of an"
        " application, a job or a container. Hadoop removes a container's logs after three hours.",
        "heterodoop cluster logs, without a name, lists what there is.",
    ),
    "HD601": Entry(
        "there is no Java",
        "Hadoop's servers and commands are Java programs. JAVA_HOME is not set, and PATH has no `java`.",
        "Debian, Ubuntu: apt install openjdk-17-jdk-headless, or default-jdk-headless where that is newer.",
    ),
    "HD602": Entry(
        "the Java that was found cannot be used",
        "JAVA_HOME names a folder without bin/java, or the Java is older or newer than the Hadoop release can use: Hadoop"
        " 3.5 needs Java 17 or newer, 3.4.2 runs on 17 to 22.",
        "Install Java 17 and set JAVA_HOME to its folder (Debian, Ubuntu: /usr/lib/jvm/java-17-openjdk-amd64).",
    ),
    "HD603": Entry(
        "there is no Maven",
        "Maven fetches Hadoop's jars, once for each release; PATH has no `mvn`. They are kept, and then Maven is not"
        " needed.",
        "Debian, Ubuntu: apt install maven.",
    ),
    "HD604": Entry(
        "Maven cannot bring Hadoop's jars",
        "The message has Maven's own words. The jars come from Maven Central, or from a mirror that ~/.m2/settings.xml"
        " names. A fetch that fails leaves nothing behind.",
        "Check the network, the mirror and the free space in ~/.m2 and ~/.cache; then run the command again.",
    ),
    "HD605": Entry(
        "an embedded cluster that cannot be",
        "heterodoop cluster up starts Hadoop 3.5.0 or 3.4.2, with 1 to 64 NodeManagers that have 1024 MiB or more each: an"
        " application master and a task take 512 each. --owner names a process that runs.",
        "Correct the option that the message names.",
    ),
    "HD606": Entry(
        "a folder that cannot be a cluster's",
        "A cluster's folder is new, empty, or was made by heterodoop cluster up with the same Hadoop release; one release's"
        " HDFS is not given to another. Its path has plain characters only: Hadoop's settings have lists with commas and"
        " class paths with colons.",
        "Name another folder with --dir; the message says what is wrong with this one.",
    ),
    "HD607": Entry(
        "a cluster runs there already",
        "There is one cluster in a folder, and one command at a time that starts or ends it.",
        "heterodoop cluster status says what runs, heterodoop cluster down ends it. A second cluster gets another --dir.",
    ),
    "HD608": Entry(
        "no cluster runs there",
        "The command works on a cluster that heterodoop cluster up started in this folder.",
        "Start one, or name its folder with --dir or HETERODOOP_CLUSTER_DIR.",
    ),
    "HD609": Entry(
        "a server of the cluster does not start or does not stop",
        "The message has the reason that the server's log gives. Whatever had been started was ended again.",
        "Read the log that the message names. Frequent reasons: not enough memory (a cluster takes about 2 GiB without"
        " jobs), a full disk, a host name that does not resolve.",
    ),
    "HD610": Entry(
        "Hadoop's configuration cannot be read",
        "Addresses of the cluster come from the *-site.xml files in $HADOOP_CONF_DIR (else $HADOOP_HOME/etc/hadoop)."
        " The folder is missing, a file in it is no configuration, or its variables lead to each other without an end.",
        "Set HADOOP_CONF_DIR to the folder that the Hadoop commands use, or correct the file in the message.",
    ),
    "HD611": Entry(
        "a driver runs there already",
        "Per folder and NodeManager there is one GPU driver; the message says its process and since when it runs.",
        "Use it; or end it with `heterodoop driver stop`, or give the new one another --dir or --node-port.",
    ),
    "HD612": Entry(
        "the driver's folder cannot be trusted",
        "Map tasks talk to the driver through a socket in this folder. Whoever can write there could take the driver's"
        " place, so the folder must be a real folder (no link) of your own with mode 0700.",
        "Remove what stands there, or name another folder with --dir; tasks find it by heterodoop.driver.dir.",
    ),
    "HD613": Entry(
        "no driver answers",
        "No GPU driver of this user runs with that folder and NodeManager port, or it does not answer.",
        "heterodoop driver start; check --dir and --node-port. The driver's log is driver.log in its folder.",
    ),
    "HD614": Entry(
        "the driver cannot start",
        "What it needs is missing: GPUs, a folder to work in, a port. The message says what.",
        "heterodoop doctor says what works on this machine; the driver's log is driver.log in its folder.",
    ),
    "HD615": Entry(
        "the GPU driver does not do such a task",
        "The job uses something that the CPU path of Hadoop does and the driver does not: another codec, a limit of the"
        " records' length, a compressed input, a program without kernels; or a host kernel left the task to the filters. The"
        " attempt runs on the CPU.",
        "Nothing has to be done. To use the GPU, change the setting that the message names; heterodoop explain BUNDLE says"
        " why a program has no kernel.",
    ),
    "HD616": Entry(
        "the job's files are not what was named",
        "A map attempt names every file of its working folder with its SHA-256. A name leads out of the folder, a file's"
        " bytes are not those of its hash, or the bundle is not the one that the job was submitted with. The attempt runs on"
        " the CPU.",
        "Submit the job again with files that do not change meanwhile.",
    ),
    "HD617": Entry(
        "the GPU driver cannot read the split",
        "Neither the driver nor the task could read the bytes of the split: no access, a file that became shorter, a"
        " DataNode that is gone. The attempt runs on the CPU, where Hadoop's own reader says what is wrong.",
        "Look at the attempt's log and at `hdfs fsck`.",
    ),
    "HD618": Entry(
        "a map output of a GPU is not right",
        "Before a result leaves the driver its order, partitions, lengths, end marks and checksums are checked. This one was"
        " damaged, and was thrown away; the attempt runs on the CPU.",
        "Please report it. heterodoop verify compares device and CPU on the job's own input.",
    ),
    "HD619": Entry(
        "the GPU driver has no GPU for the task",
        "Its queue is full, it is stopping, its GPUs are out of service, or a task of the job made a GPU fail.",
        "Nothing has to be done: the attempt runs on the CPU. heterodoop driver status shows GPUs and queue.",
    ),
    "HD620": Entry(
        "there is no Hadoop on this machine, or a part of its client is missing",
        "Jobs are submitted with Hadoop's own client: `hadoop` (of HADOOP_HOME, else in PATH), the configuration of"
        " HADOOP_CONF_DIR, and the streaming jar of the release (or of HETERODOOP_STREAMING_JAR).",
        'Start a cluster here: heterodoop cluster up; eval "$(heterodoop cluster env)". Or set those variables.',
    ),
    "HD621": Entry(
        "the configuration names no cluster",
        "mapreduce.framework.name is not yarn (its default is local): Hadoop's client would run the job in its own process.",
        "Set HADOOP_CONF_DIR to the cluster's configuration; heterodoop run needs no Hadoop.",
    ),
    "HD622": Entry(
        "the cluster does not answer",
        "No ResourceManager answers at its web address, or Hadoop's client could not reach a server. A job that was"
        " submitted before may go on.",
        "Check that the cluster runs (heterodoop cluster status) and that HADOOP_CONF_DIR is that of this cluster.",
    ),
    "HD623": Entry(
        "a setting that submit sets itself, or a queue or class that is not there",
        "The settings that bring the plug-in into a job, and those that options of streaming stand for (programs, paths,"
        " formats, -cmdenv), are made by submit. Another value would make another job than the one that was asked for.",
        "Use the option; --cpu-only submits without the plug-in. For queues: yarn queue -list all. Classes that are not"
        " Hadoop's own come by -libjars.",
    ),
    "HD624": Entry(
        "Hadoop cannot carry this name or value",
        "Job settings travel as XML, lists of paths are cut at commas, shipped files' addresses are URIs that are decoded"
        " twice, -cmdenv is cut at blanks. What would arrive changed is refused.",
        "Rename the file, or choose another value; the message says what is possible.",
    ),
    "HD625": Entry(
        "Hadoop did not take the job",
        "Its client ended with an error of its own. Nothing runs.",
        "Read the client's last lines, which are shown; the command of --dry-run shows all of them.",
    ),
    "HD626": Entry(
        "no map task of the job will use a GPU",
        "The plug-in leaves a job to the CPU where a GPU's result could differ from Hadoop's: other partitioners,"
        " comparators, formats, encrypted map output; and where the map program has no kernel. Where filters read something"
        " else than the lines of a file (-inputformat, stream.map.input.ignoreKey), the job is a plain streaming job. The"
        " result is the same, only slower.",
        "Nothing, if that is meant; heterodoop explain BUNDLE says why a program has no kernel.",
    ),
    "HD627": Entry(
        "no such setting of HeteroDoop",
        "Names that begin with heterodoop. are HeteroDoop's, and this one is none of them: it goes to the job and means"
        " nothing.",
        "Correct the name; docs/job-settings.md lists them.",
    ),
    "HD628": Entry(
        "the job failed",
        "A task failed in all its attempts, or the application master did. The message has the attempt, its node, split and"
        " command, and what its log ends with.",
        "heterodoop job logs ID prints the whole logs. Run the filter by hand on the split that is named.",
    ),
    "HD629": Entry(
        "the job was killed",
        "Somebody ended it: heterodoop job kill, yarn application -kill, or an administrator.",
        "Submit it again.",
    ),
    "HD630": Entry(
        "no such job",
        "A job's id is job_NUMBER_NUMBER (or application_...). Neither the ResourceManager nor the JobHistory server knows"
        " it.",
        "heterodoop job list --all --users; check HADOOP_CONF_DIR.",
    ),
    "HD631": Entry(
        "the filter does not start on the node",
        "The node's loader refused it: it was built with a newer C library, for another processor, or with a library that"
        " the node lacks. The loader's own words are in the message.",
        "Compile the program on a machine with the nodes' system, or an older one, and submit that bundle.",
    ),
    "HD632": Entry(
        "a server of HDFS does not answer",
        "WebHDFS sends a client from the NameNode to the DataNode that has (or gets) the data, by the name that the DataNode"
        " gave. Here one of them cannot be reached, or its name cannot be resolved. No half file is left.",
        "Make the name that the message has known here (/etc/hosts), let DataNodes give another one"
        " (dfs.client.use.datanode.hostname, dfs.datanode.hostname), or use HttpFS.",
    ),
    "HD633": Entry(
        "a bundle holds something that is no ordinary file",
        "A bundle is shipped as files. Links, pipes and devices could mean something else on another machine.",
        "Compile the program again.",
    ),
    "HD634": Entry(
        "a name in HDFS (or here) cannot be read or written",
        "It does not exist, exists already, is a folder or no folder, may not be accessed, or can be no name in HDFS, which"
        " takes UTF-8 text without colons. Nothing is ever overwritten.",
        "heterodoop fs ls shows what there is.",
    ),
    "HD635": Entry(
        "the cluster wants a login (Kerberos)",
        "submit, job and fs show a Kerberos ticket to the cluster's web addresses (SPNEGO). The message says what is"
        " missing: a ticket, MIT Kerberos's library, or a server that takes it. Passwords (Basic, LDAP) and other logins are"
        " not done.",
        "Get a ticket (kinit), or name a keytab in KRB5_CLIENT_KTNAME. Without: run the command that"
        " heterodoop submit --dry-run prints; use hadoop fs, mapred job and yarn logs for the rest.",
    ),
    "HD636": Entry(
        "the Python package hdfs is missing",
        "heterodoop fs speaks WebHDFS with it, and `run` reads inputs in HDFS with hdfs-native, which comes with it."
        " Submitting works without it: Hadoop then checks the paths by itself.",
        "pip install 'heterodoop[hdfs]'",
    ),
    "HD637": Entry(
        "not the cluster's HDFS",
        "heterodoop fs knows the file system of fs.defaultFS, and only where that is HDFS.",
        "hadoop fs takes any address.",
    ),
    "HD638": Entry(
        "the job's settings do not fit into a filter's environment",
        "Streaming gives a filter every setting as a variable; a system limits one to 128 KiB and all together to some MiB.",
        "Lower stream.jobconf.truncate.limit (submit sets 20000), or name fewer inputs: a folder or a pattern.",
    ),
    "HD639": Entry(
        "a container used more memory than it may",
        "YARN counts the task's Java process and the filter together, and kills what goes beyond mapreduce.map.memory.mb"
        " (or .reduce.).",
        "Raise it with -D; the filter's share is what is above mapreduce.map.java.opts' -Xmx.",
    ),
    "HD640": Entry(
        "the JobHistory server does not have a job",
        "Only it knows a job's tasks once the job is over. It learns of the end some seconds later, and forgets jobs after"
        " mapreduce.jobhistory.max-age-ms (a week).",
        "heterodoop job status says how far a job is; heterodoop job list --all which there are.",
    ),
    "HD647": Entry(
        "a cluster or a job cannot be simulated as it was described",
        "Nodes, tasks and slots are whole numbers, the speedup is a factor, and something must be able to run a task.",
        "heterodoop simulate --help",
    ),
    "HD648": Entry(
        "the timeline cannot be drawn",
        "The timeline is written as SVG, and the file's name ends in .svg. The message says what is wrong with it.",
        "Name a file that ends in .svg, in a folder that is there.",
    ),
    "HD650": Entry(
        "the Hadoop plug-in is not built",
        "Jobs on Hadoop load a jar, heterodoop-mr.jar, which asks the node's driver for a GPU. It is Java, so the first job"
        " builds it, with a JDK and Maven. This installation was made without it, and one of the two is not here.",
        "Install a JDK and Maven (Debian, Ubuntu: apt install openjdk-17-jdk-headless maven) and run:"
        " python -m heterodoop.toolchain.plugin. HETERODOOP_MR_JAR names a jar that lies elsewhere.",
    ),
    "HD651": Entry(
        "there is no Java compiler",
        "The Hadoop plug-in is compiled with javac, from JAVA_HOME if that is set and else from PATH. A Java runtime (JRE)"
        " alone has none.",
        "Install a JDK (Debian, Ubuntu: apt install openjdk-17-jdk-headless), or set JAVA_HOME to one.",
    ),
    "HD652": Entry(
        "there is no Maven",
        "Maven (mvn) builds the Hadoop plug-in and brings the jars of Hadoop that it is compiled against. It is not in"
        " PATH.",
        "Install it (Debian, Ubuntu: apt install maven).",
    ),
    "HD653": Entry(
        "Maven cannot build the Hadoop plug-in",
        "Maven failed; its own words are in the message. The first build downloads Hadoop's jars and Maven's own plug-ins,"
        " so most often the network or a mirror's settings (~/.m2/settings.xml) are the reason.",
        "Correct what Maven names. If a test of the plug-in failed, build without --test and please report it.",
    ),
    "HD656": Entry(
        "a plain streaming job does not heed a setting",
        "Hadoop Streaming uses Hadoop's older interface, whose input formats know no upper limit of a split. `heterodoop"
        " run` and the plug-in's input format do. The result is the same, the number of map tasks is another.",
        "-D mapreduce.job.maps=N makes splits of at most bytes / N; or leave out what makes the job a plain one (--cpu-only,"
        " -inputformat).",
    ),
    "HD657": Entry(
        "a job's counters are lost",
        "The job ended, and neither the JobHistory server nor the application master has its counters. Hadoop loses all of"
        " them when a job has more than mapreduce.job.counters.max (120) of its own; the plug-in's do not count, but for"
        " details that are left out where room is scarce. The output is not touched.",
        "Let the program have fewer counters, or raise the limit in the cluster's mapred-site.xml; if the JobHistory server"
        " was down: heterodoop job counters ID.",
    ),
    "HD658": Entry(
        "HDFS is in safe mode",
        "The NameNode takes no changes: at its start until enough blocks are reported, after `hdfs dfsadmin -safemode"
        " enter`, and where its own disk is nearly full.",
        "hdfs dfsadmin -safemode get; free the NameNode's disk; hdfs dfsadmin -safemode leave where somebody entered it.",
    ),
    "HD659": Entry(
        "an option of Hadoop Streaming has another name here, or none",
        "`heterodoop submit` makes a streaming job of a bundle: the filters, their roles and their text form are the"
        " bundle's. The message says what does here what the option does there, if anything.",
        "heterodoop submit --help; --dry-run prints the `hadoop jar` command, to which any option can be added by hand.",
    ),
    "HD660": Entry(
        "too much would be removed at once",
        "`heterodoop fs rm -r` removes for good. The root, /tmp, a home and what is above one are not removed by a slip.",
        "Name what is in it; -f removes it all the same.",
    ),
    "HD661": Entry(
        "HDFS has no room",
        "No DataNode takes data, since their disks are full or none of them runs; or a quota of the folder is used up.",
        "hdfs dfsadmin -report and hdfs dfs -count -q -h FOLDER show which; heterodoop fs rm removes what is not needed.",
    ),
    "HD662": Entry(
        "map attempts do not do several splits each",
        "-D heterodoop.group.bytes asks for it. It is done only where no byte of the output can change: with reducers, a map"
        " whose records are understood and which asks for nothing of its task, and no combiner or one that may meet the"
        " values of several splits.",
        "Leave the setting out. `heterodoop explain APP` says what was understood of map and combiner.",
    ),
    "HD667": Entry(
        "a folder is not safe to run programs from",
        "Programs are run, or libraries loaded, from this folder. Another user could put his own there: the folder, or one"
        " above it, belongs to him or is open to others, or the folder is a link. One above it that others may write to"
        " needs the sticky bit.",
        "Name a folder of your own (--work, XDG_STATE_HOME, TMPDIR), or take the rights away that the message names.",
    ),
    "HD668": Entry(
        "a folder that a driver would empty is not its own",
        "A driver empties its work folder at start and end. It takes one that is new, empty, or marked by an earlier driver;"
        " this one holds something else, or another driver is using it.",
        "Name another folder with --work. Remove this one by hand if nothing in it is needed.",
    ),
    "HD669": Entry(
        "a part of a GPU's memory that cannot be had",
        "Drivers of one node hold parts of their GPUs' memory, --gpu-memory-share of each. One that was started without it"
        " holds all that was left. The message names who has what. Which parts are held stands in /run/heterodoop-gpus or"
        " /tmp/heterodoop-gpus.",
        "Start each driver with --gpu-memory-share, together 100 at most; or give each its own GPUs with --gpus.",
    ),
}

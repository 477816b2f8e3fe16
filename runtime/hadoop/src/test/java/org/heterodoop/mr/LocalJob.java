package org.heterodoop.mr;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobClient;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RunningJob;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.streaming.StreamJob;

/** A streaming word count on LocalJobRunner, submitted as `heterodoop submit` does, with shell filters as the bundle. */
final class LocalJob {
  static final String BUNDLE = "wc.hdp";
  private static final String SUM = "#!/bin/sh\nexec awk -F'\\t' -v OFS='\\t' "
      + "'NR > 1 && $1 != k {print k, n; n = 0} {k = $1; n += $2} END {if (NR) print k, n}'\n";
  private static final String MAP = "#!/bin/sh\n[ -z \"$ENV_COPY\" ] || env -0 > \"$ENV_COPY\"\n"
      + "[ -z \"$FAIL\" ] || exit 3\n"
      + "exec awk '{for (i = 1; i <= NF; i++) print $i \"\\t1\"}'\n";

  private final Path folder;
  private final List<String> settings = new ArrayList<>();
  private int reducers = 2;
  private boolean combiner = true;
  private boolean plugIn = true;

  /** What came of a job. */
  static final class Outcome {
    boolean successful;
    Counters counters;
    final Map<String, String> output = new TreeMap<>();

    /** A detail. */
    long hetero(String name) {
      return counters.findCounter(HeteroCounters.GROUP, name).getValue();
    }

    long total(String name) {
      return counters.findCounter(FileSystemCounter.class.getName(), HeteroCounters.total(name)).getValue();
    }
  }

  LocalJob(Path folder) throws IOException {
    this.folder = folder;
    set("hadoop.tmp.dir", folder.resolve("tmp").toString());
    // One local folder: LocalJobRunner cannot find an index in another than its data.
    set("mapreduce.cluster.local.dir", folder.resolve("local").toString());
    set("mapreduce.task.io.sort.mb", "4");
    set("tmparchives", archive().toUri() + "#" + BUNDLE);
    set(Settings.BUNDLE, BUNDLE);
    set(Settings.BUNDLE_SHA256, "0".repeat(64));
    set(Settings.DRIVER_DIR, folder.resolve("driver").toString());
    set(Settings.SILENCE_MS, "5000");
  }

  LocalJob set(String name, String value) {
    settings.add("-jobconf");
    settings.add(name + "=" + value);
    return this;
  }

  /** A variable of the filters' environment. */
  LocalJob env(String name, String value) {
    settings.add("-cmdenv");
    settings.add(name + "=" + value);
    return this;
  }

  LocalJob reducers(int n) {
    reducers = n;
    return this;
  }

  LocalJob withoutCombiner() {
    combiner = false;
    return this;
  }

  /** Plain streaming, nothing of ours: what the output and the counters must be equal to. */
  LocalJob withoutPlugIn() {
    plugIn = false;
    return this;
  }

  /** Some text whose words and line ends do not fall on the edges of the splits. */
  static String text() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 400; i++) {
      text.append("w").append(i * 7919 % 61).append(i % 5 == 0 ? " über \u65e5\u672c" : " the");
      text.append(i % 3 == 0 ? "\r\n" : "\n");
    }
    return text + "last without an end";
  }

  private Path archive() throws IOException {
    Path archive = folder.resolve("wc.tgz");
    if (!Files.exists(archive)) {
      Path bin = Files.createDirectories(folder.resolve("bundle/bin"));
      script(bin.resolve("map"), MAP);
      script(bin.resolve("combine"), SUM);
      script(bin.resolve("reduce"), SUM);
      Files.writeString(folder.resolve("bundle/manifest.json"), "{}");
      run("tar", "-czf", archive.toString(), "-C", folder.resolve("bundle").toString(), ".");
    }
    return archive;
  }

  private static void script(Path path, String text) throws IOException {
    Files.writeString(path, text);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private static void run(String... command) throws IOException {
    try {
      if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
        throw new IOException(Arrays.toString(command));
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  JobConf conf(Path input, Path output) throws IOException {
    List<String> words = new ArrayList<>(List.of("-input", input.toString(), "-output", output.toString(),
        "-mapper", "org.apache.hadoop.streaming.PipeMapper"));
    set("stream.map.streamprocessor", BUNDLE + "%2Fbin%2Fmap").set("stream.map.output", "text");
    set("stream.jobconf.truncate.limit", "20000");
    if (plugIn) {
      set("mapred.map.runner.class", HeteroMapRunner.class.getName());
      set("mapreduce.job.map.output.collector.class",
          HeteroCollector.class.getName() + ",org.apache.hadoop.mapred.MapTask$MapOutputBuffer");
      words.addAll(List.of("-inputformat", HeteroInputFormat.class.getName()));
      words.addAll(reducers == 0 ? List.of("-outputformat", HeteroOutputFormat.class.getName()) : List.of());
    } else {
      set("mapred.map.runner.class", "org.apache.hadoop.streaming.PipeMapRunner");
    }
    if (reducers > 0) {
      words.addAll(combiner ? List.of("-combiner", BUNDLE + "/bin/combine") : List.of());
      words.addAll(List.of("-reducer", BUNDLE + "/bin/reduce"));
    }
    words.addAll(List.of("-numReduceTasks", Integer.toString(reducers)));
    words.addAll(settings);
    return StreamJob.createJob(words.toArray(new String[0]));
  }

  Outcome run() throws Exception {
    return run(text());
  }

  Outcome run(String text) throws Exception {
    Path input = folder.resolve("in put.txt");
    Files.write(input, text.getBytes(StandardCharsets.UTF_8));
    return run(input);
  }

  /** Of a file, a folder or a pattern. */
  Outcome run(Path input) throws Exception {
    Path output = folder.resolve("out-" + System.nanoTime());
    JobConf conf = conf(input, output);
    RunningJob job = new JobClient(conf).submitJob(conf);
    while (!job.isComplete()) {
      Thread.sleep(20);
    }
    Outcome outcome = new Outcome();
    outcome.successful = job.isSuccessful();
    outcome.counters = job.getCounters();
    if (outcome.successful) {
      try (Stream<Path> parts = Files.list(output)) {
        for (Path part : parts.filter(p -> p.getFileName().toString().startsWith("part-")).toList()) {
          outcome.output.put(part.getFileName().toString(), Files.readString(part, StandardCharsets.ISO_8859_1));
        }
      }
    }
    return outcome;
  }

  Path folder() {
    return folder;
  }
}

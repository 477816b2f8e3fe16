package org.heterodoop.mr;

import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.SkipBadRecords;
import org.apache.hadoop.mapred.TextInputFormat;
import org.apache.hadoop.mapred.TextOutputFormat;
import org.apache.hadoop.mapred.lib.HashPartitioner;
import org.apache.hadoop.streaming.PipeCombiner;
import org.apache.hadoop.streaming.PipeMapper;
import org.apache.hadoop.streaming.io.TextInputWriter;
import org.apache.hadoop.streaming.io.TextOutputReader;
import org.apache.hadoop.util.QuickSort;

/**
 * Why an attempt runs on the CPU without asking the driver: the job uses a part of Hadoop that a GPU task does not have.
 *
 * <p>Each reason has a counter DECLINED_..., and docs/hadoop-plugin.md a line. What only the driver can know (its queue,
 * the bundle's kernels) it says in its answer.
 */
final class Decline {
  private static final String TAB = "\t";

  /** The end of the counter's name, and a sentence for the task's status. */
  final String counter;
  final String reason;

  Decline(String counter, String reason) {
    this.counter = counter;
    this.reason = reason;
  }

  /** The first reason against a GPU, or null. */
  static Decline find(InputSplit split, JobConf job) {
    Decline found = plugIn(job);
    if (found == null) {
      found = input(split, job);
    }
    if (found == null) {
      found = command(job);
    }
    if (found == null) {
      found = job.getNumReduceTasks() == 0 ? textOutput(job) : shuffle(job);
    }
    return found;
  }

  /** Has an earlier attempt failed? Then this one goes to the CPU in case that it was the GPU's fault. */
  static boolean retry(JobConf job, Reporter reporter) {
    return !job.getBoolean(Settings.GPU_RETRY, false) && EarlierAttempts.failed(job, reporter);
  }

  static Decline retryReason() {
    return new Decline("RETRY", "an earlier attempt of this task failed");
  }

  private static Decline plugIn(JobConf job) {
    if (!job.get("mapred.map.runner.class", "").equals(HeteroMapRunner.class.getName())) {
      return new Decline("RUNNER", "mapred.map.runner.class is not HeteroMapRunner");
    }
    if (job.get(Settings.BUNDLE, "").isEmpty() || !job.get(Settings.BUNDLE_SHA256, "").matches("[0-9a-f]{64}")) {
      return new Decline("BUNDLE", "heterodoop.bundle or heterodoop.bundle.sha256 is not set");
    }
    return null;
  }

  private static Decline input(InputSplit split, JobConf job) {
    if (!(split instanceof FileSplit)) {
      return new Decline("SPLIT", "the split is a " + split.getClass().getName() + " and not a part of one file");
    }
    if (InputFormats.of(job) != TextInputFormat.class) {
      return new Decline("INPUT_FORMAT", "the input format is not TextInputFormat");
    }
    if (new CompressionCodecFactory(job).getCodec(((FileSplit) split).getPath()) != null) {
      return new Decline("COMPRESSED", "the input is compressed");
    }
    if (!job.getBoolean(InputFormats.IGNORE_KEY, true)) {
      return new Decline("INPUT_KEY", "stream.map.input.ignoreKey is not true: filters get offsets");
    }
    if (SkipBadRecords.getMapperMaxSkipRecords(job) > 0) {
      return new Decline("SKIP", "bad records are skipped (mapreduce.map.skip.maxrecords)");
    }
    if (job.get(Settings.RECORD_DELIMITER, "").getBytes(StandardCharsets.UTF_8).length > 1) {
      // Hadoop's reader loses or doubles records where a split's end or a buffer's lies within one: so must this job's.
      return new Decline("DELIMITER", "records end at several bytes (textinputformat.record.delimiter)");
    }
    return null;
  }

  /** The GPU runs the bundle; the job must say the same for the CPU. */
  private static Decline command(JobConf job) {
    String bundle = job.get(Settings.BUNDLE);
    if (!PipeMapper.class.getName().equals(job.getMapperClass().getName())
        || !runs(job, "stream.map.streamprocessor", bundle + "/bin/map")) {
      return new Decline("COMMAND", "the map command is not " + bundle + "/bin/map");
    }
    if (!job.getMapOutputKeyClass().equals(Text.class) || !job.getMapOutputValueClass().equals(Text.class)
        || job.getClass("stream.map.input.writer.class", TextInputWriter.class) != TextInputWriter.class
        || job.getClass("stream.map.output.reader.class", TextOutputReader.class) != TextOutputReader.class) {
      return new Decline("TYPES", "the filter's input or output is not text");
    }
    if (!isDefault(job, "map", "input.field.separator", "output.field.separator")) {
      return new Decline("FIELDS", "the key of the map output does not end at the first tab");
    }
    return combiner(job, bundle);
  }

  private static Decline combiner(JobConf job, String bundle) {
    if (job.getCombinerClass() == null) {
      return null;
    }
    if (job.getCombinerClass() != PipeCombiner.class
        || !runs(job, "stream.combine.streamprocessor", bundle + "/bin/combine")) {
      return new Decline("COMBINER", "the combiner is not " + bundle + "/bin/combine");
    }
    if (!isDefault(job, "reduce", "input.field.separator", "output.field.separator")
        || job.getClass("stream.reduce.input.writer.class", TextInputWriter.class) != TextInputWriter.class
        || job.getClass("stream.reduce.output.reader.class", TextOutputReader.class) != TextOutputReader.class) {
      return new Decline("FIELDS", "the combiner's keys do not end at the first tab");
    }
    return null;
  }

  private static boolean runs(JobConf job, String setting, String command) {
    try {
      String text = URLDecoder.decode(job.get(setting, ""), "UTF-8").trim();
      return text.equals(command) || text.equals("./" + command);
    } catch (UnsupportedEncodingException | IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean isDefault(JobConf job, String side, String... separators) {
    boolean all = job.getInt("stream.num." + side + ".output.key.fields", 1) == 1;
    for (String separator : separators) {
      all &= job.get("stream." + side + "." + separator, TAB).equals(TAB);
    }
    return all;
  }

  private static Decline textOutput(JobConf job) {
    if (!(job.getOutputFormat() instanceof HeteroOutputFormat)) {
      return new Decline("OUTPUT_FORMAT", "without reducers -outputformat must be " + HeteroOutputFormat.class.getName());
    }
    if (!job.get("mapreduce.output.textoutputformat.separator", TAB).equals(TAB)) {
      return new Decline("OUTPUT_FORMAT", TextOutputFormat.class.getSimpleName() + "'s separator is not a tab");
    }
    return null;
  }

  private static Decline shuffle(JobConf job) {
    String collectors = job.get("mapreduce.job.map.output.collector.class", "");
    if (!collectors.split(",")[0].trim().equals(HeteroCollector.class.getName())) {
      return new Decline("COLLECTOR", "mapreduce.job.map.output.collector.class does not begin with HeteroCollector");
    }
    if (job.getNumReduceTasks() > 1 && job.getPartitionerClass() != HashPartitioner.class) {
      return new Decline("PARTITIONER", "the partitioner is " + job.getPartitionerClass().getName());
    }
    if (job.get("mapreduce.job.output.key.comparator.class") != null
        || job.get("mapreduce.job.combiner.group.comparator.class") != null) {
      return new Decline("COMPARATOR", "keys have a comparator of their own");
    }
    if (job.getClass("map.sort.class", QuickSort.class) != QuickSort.class
        || job.getClass("mapreduce.map.sort.class", QuickSort.class) != QuickSort.class) {
      return new Decline("SORT", "map.sort.class is not QuickSort");
    }
    if (job.getBoolean("mapreduce.job.encrypted-intermediate-data", false)) {
      return new Decline("ENCRYPTED", "map output is encrypted (mapreduce.job.encrypted-intermediate-data)");
    }
    String codec = codec(job);
    if (!codec.isEmpty() && !codec.equals(DefaultCodec.class.getName()) && !codec.equals(GzipCodec.class.getName())) {
      return new Decline("CODEC", "map output is compressed with " + codec);
    }
    return null;
  }

  /** Class name of the map output's codec, "" where it is not compressed. */
  static String codec(JobConf job) {
    boolean compressed = job.getNumReduceTasks() > 0 && job.getCompressMapOutput();
    return compressed ? job.get("mapreduce.map.output.compress.codec", DefaultCodec.class.getName()) : "";
  }
}

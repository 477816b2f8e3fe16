package org.heterodoop.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole jobs whose map outputs a driver makes: the output and Hadoop's counters are those of plain streaming. */
class PlugInTest {
  private static final List<TaskCounter> SAME = List.of(TaskCounter.MAP_INPUT_RECORDS, TaskCounter.MAP_OUTPUT_RECORDS,
      TaskCounter.MAP_OUTPUT_BYTES, TaskCounter.COMBINE_INPUT_RECORDS, TaskCounter.COMBINE_OUTPUT_RECORDS,
      TaskCounter.SPILLED_RECORDS, TaskCounter.REDUCE_INPUT_GROUPS, TaskCounter.REDUCE_INPUT_RECORDS,
      TaskCounter.REDUCE_OUTPUT_RECORDS, TaskCounter.SHUFFLED_MAPS);
  private static final String DEFAULT_CODEC = "org.apache.hadoop.io.compress.DefaultCodec";

  @TempDir
  Path folder;

  /** A driver that does the task as it should be done. */
  static void compute(FakeDriver.Talk talk) throws IOException {
    Fields offer = talk.expect(Frame.OFFER);
    talk.answer("gpu", "", "");
    compute(talk, offer);
  }

  static void compute(FakeDriver.Talk talk, Fields offer) throws IOException {
    talk.expect(Frame.RUN);
    talk.send(Frame.PROGRESS, new Fields().add("ahead", 2));
    talk.send(Frame.PROGRESS, new Fields().add("text", "mapping").add("fraction", "0.5"));
    send(talk, count(offer), 1000);
    talk.end();
  }

  static WordCount count(Fields offer) throws IOException {
    List<FileSplit> parts = new ArrayList<>();
    for (String part : offer.texts("part")) {
      String[] words = part.split("\0");
      parts.add(new FileSplit(new org.apache.hadoop.fs.Path(java.net.URI.create(words[0])), Long.parseLong(words[1]),
          Long.parseLong(words[2]), new String[0]));
    }
    return parts.isEmpty()
        ? new WordCount(offer).run(offer.text("path"), offer.number("start"), offer.number("length"), offer.text("delimiter"))
        : new WordCount(offer).run(parts, "");
  }

  static void send(FakeDriver.Talk talk, WordCount result, int piece) throws IOException {
    talk.send(Frame.RESULT, result.result());
    if (result.index.length > 0) {
      talk.data(result.index, piece);
    }
    talk.data(result.data, piece);
  }

  private static Map<String, Long> counters(Counters counters, boolean materialized) {
    Map<String, Long> found = new TreeMap<>();
    SAME.forEach(counter -> found.put(counter.name(), counters.getCounter(counter)));
    if (materialized) {
      found.put("MATERIALIZED", counters.getCounter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES));
    }
    return found;
  }

  @ParameterizedTest
  @CsvSource({"1,,true", "3,,true", "3,,false", "2,org.apache.hadoop.io.compress.DefaultCodec,true",
      "2,org.apache.hadoop.io.compress.GzipCodec,true"})
  void gpuAttemptsGiveTheSameOutputAndCounters(int reducers, String codec, boolean combiner) throws Exception {
    LocalJob plain = job(reducers, codec, combiner).withoutPlugIn();
    LocalJob.Outcome expected = plain.run();
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), PlugInTest::compute)) {
      LocalJob.Outcome found = job(reducers, codec, combiner).set(Settings.VERIFY, "true").run();
      assertEquals(expected.output, found.output);
      assertEquals(reducers, found.output.size());
      assertEquals(counters(expected.counters, codec == null), counters(found.counters, codec == null));
      assertEquals(4, found.total(HeteroCounters.GPU_MAPS));
      assertEquals(0, found.total(HeteroCounters.CPU_MAPS));
      assertEquals(44, found.total(HeteroCounters.GPU_READ_BYTES));
      assertEquals(2000, found.hetero("GPU_READ_MS"));
      assertEquals(1000, found.hetero("GPU_MAP_KERNEL_MS"));
      assertEquals(20, found.counters.findCounter("Words", "seen").getValue());
      driver.await("closed");
      assertEquals(4, driver.heard.stream().filter("INSTALLED"::equals).count());
    }
  }

  private LocalJob job(int reducers, String codec, boolean combiner) throws IOException {
    LocalJob job = new LocalJob(folder).reducers(reducers);
    if (codec != null) {
      job.set("mapreduce.map.output.compress", "true").set("mapreduce.map.output.compress.codec", codec);
    }
    return combiner ? job : job.withoutCombiner();
  }

  /** Two of four on GPUs, one as a host kernel, one by the filter. */
  @Test
  void anyMixGivesTheSameOutputAlsoWithSeveralAttemptsAtOnce() throws Exception {
    LocalJob.Outcome expected = job(3, DEFAULT_CODEC, true).withoutPlugIn().run();
    FakeDriver.Behaviour everySecond = talk -> {
      Fields offer = talk.expect(Frame.OFFER);
      int task = offer.text("attempt").charAt(offer.text("attempt").length() - 3) - '0';
      if (task % 2 == 0) {
        talk.answer("gpu", "", "");
        compute(talk, offer);
      } else if (task == 1) {
        talk.answer("host", "the job made a GPU fail", "HD619");
        talk.expect(Frame.RUN);
        WordCount result = count(offer);
        result.gpu = "";
        send(talk, result, 1000);
        talk.end();
      } else {
        talk.answer("cpu", "all GPUs are busy", "");
        talk.end();
      }
    };
    PrintStream stderr = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), everySecond)) {
      System.setErr(new PrintStream(log, true));
      LocalJob.Outcome found = job(3, DEFAULT_CODEC, true).set("mapreduce.local.map.tasks.maximum", "4").run();
      assertEquals(expected.output, found.output);
      assertEquals(counters(expected.counters, false), counters(found.counters, false));
      assertEquals(2, found.total(HeteroCounters.GPU_MAPS));
      assertEquals(2, found.total(HeteroCounters.CPU_MAPS));
      assertEquals(1, found.total(HeteroCounters.HOST_KERNEL_MAPS));
      assertEquals(22, found.total(HeteroCounters.GPU_READ_BYTES));
      assertEquals(500, found.hetero("HOST_READ_MS"));
      assertEquals(1, found.hetero("DECLINED_HD619"));
      assertEquals(0, found.total(HeteroCounters.FALLBACKS));
      assertEquals(1, driver.heard.stream().filter("CPU_DONE"::equals).count());
      assertEquals(3, driver.heard.stream().filter("INSTALLED"::equals).count());
    } finally {
      System.setErr(stderr);
    }
    String said = log.toString();  // which driver, what it said, where each attempt ran and how long
    Map<String, Integer> lines = Map.of("asked the driver, process 4711: gpu", 2,
        "ran on GPU 0: read 0\\.500 s, map kernel 0\\.250 s, .*, \\d+ ms in all", 2,
        "asked the driver, process 4711: host, the job made a GPU fail", 1, "ran as a host kernel: read 0\\.500 s, .*", 1,
        "asked the driver, process 4711: cpu, all GPUs are busy", 1, "ran in its container: \\d+\\.\\d{3} s", 1);
    lines.forEach((line, times) -> assertEquals(times.longValue(),
        said.lines().filter(one -> one.matches("heterodoop: attempt_\\w+ " + line)).count(), line + "\n" + said));
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void withoutReducersTheTextGoesToTheOutputFile(boolean compressed) throws Exception {
    String setting = Boolean.toString(compressed);
    LocalJob.Outcome expected = new LocalJob(folder).reducers(0).withoutPlugIn()
        .set("mapreduce.output.fileoutputformat.compress", setting).run();
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), PlugInTest::compute)) {
      LocalJob.Outcome found = new LocalJob(folder).reducers(0)
          .set("mapreduce.output.fileoutputformat.compress", setting).run();
      assertEquals(expected.output, found.output);
      assertEquals(4, found.total(HeteroCounters.GPU_MAPS));
      for (TaskCounter counter : SAME.subList(0, 3)) {
        assertEquals(expected.counters.getCounter(counter), found.counters.getCounter(counter), counter.name());
      }
      String written = "org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter";
      assertEquals(expected.counters.findCounter(written, "BYTES_WRITTEN").getValue(),
          found.counters.findCounter(written, "BYTES_WRITTEN").getValue());
      assertTrue(driver.heard.contains("INSTALLED"));
    }
  }

  @Test
  void aCustomDelimiterReachesTheDriver() throws Exception {
    String text = LocalJob.text().replace("\r", "");
    LocalJob.Outcome expected = new LocalJob(folder).withoutPlugIn().set(Settings.RECORD_DELIMITER, "e").run(text);
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), PlugInTest::compute)) {
      LocalJob.Outcome found = new LocalJob(folder).set(Settings.RECORD_DELIMITER, "e").run(text);
      assertEquals(expected.output, found.output);
      assertEquals(counters(expected.counters, true), counters(found.counters, true));
      assertEquals(4, found.total(HeteroCounters.GPU_MAPS));
    }
  }

  /** With 112 counters of its own a job with reducers has as many as Hadoop takes: 8 are Hadoop's. */
  @Test
  void aJobsOwnCountersHaveTheRoom() throws Exception {
    FakeDriver.Behaviour counting = talk -> {
      Fields offer = talk.expect(Frame.OFFER);
      talk.answer("gpu", "", "");
      talk.expect(Frame.RUN);
      WordCount result = count(offer);
      result.gpu = "emulated 0";
      Fields fields = result.result();
      for (int i = 0; i < 111; i++) {
        fields.add("user", "Many\0c" + i + "\0001");
      }
      talk.send(Frame.RESULT, fields);
      talk.data(result.index, 1000);
      talk.data(result.data, 1000);
      talk.end();
    };
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), counting)) {
      LocalJob.Outcome found = new LocalJob(folder).run();
      assertTrue(found.successful);
      assertEquals(111, found.counters.getGroup("Many").size());
      assertEquals(4, found.total(HeteroCounters.GPU_MAPS));
      assertEquals(4, found.total(HeteroCounters.EMULATED_MAPS));
      assertEquals(0, found.counters.getGroup(HeteroCounters.GROUP).size());
    }
  }

  @Test
  void detailsCanBeLeftOut() throws Exception {
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), PlugInTest::compute)) {
      LocalJob.Outcome found = new LocalJob(folder).set(Settings.DETAILS, "false").run();
      assertEquals(4, found.total(HeteroCounters.GPU_MAPS));
      assertEquals(0, found.counters.getGroup(HeteroCounters.GROUP).size());
    }
  }
}

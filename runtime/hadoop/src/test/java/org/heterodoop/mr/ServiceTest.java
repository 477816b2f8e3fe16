package org.heterodoop.mr;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a task tells and gives to its driver: the offer, the environment, the files, the split's bytes. */
class ServiceTest {
  @TempDir
  Path folder;

  @Test
  void theEnvironmentIsTheOneOfTheCpuFilter() throws Exception {
    Path copy = folder.resolve("env");
    Map<String, Set<String>> sent = new ConcurrentHashMap<>();
    FakeDriver.Behaviour refuse = talk -> {
      String attempt = talk.expect(Frame.OFFER).text("attempt");
      talk.answer("gpu", "", "");
      sent.put(attempt, new TreeSet<>(talk.expect(Frame.RUN).texts("env")));
      talk.send(Frame.REFUSED, new Fields().add("reason", "only asking").add("code", ""));
      talk.end();
    };
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), refuse)) {
      LocalJob job = new LocalJob(folder).reducers(1).env("ENV_COPY", copy.toString()).env("GREETING", "a=b")
          .set("long.setting", "x".repeat(30_000)).set("with.Ümlaut-and${dots}", "value of ${long.nothing}");
      assertTrue(job.run("one line\n").successful);
      assertEquals(1, sent.size());
    }
    Set<String> found = new TreeSet<>(List.of(Files.readString(copy).split("\0")));
    found.removeIf(variable -> variable.matches("(?s)(PWD|OLDPWD|SHLVL|_)=.*"));  // the shell's own
    Set<String> told = new TreeSet<>(sent.values().iterator().next());
    told.removeIf(variable -> variable.matches("(?s)(PWD|OLDPWD|SHLVL|_)=.*"));
    assertEquals(found, told);
    String all = String.join("\n", told);
    assertTrue(all.contains("\nmap_input_file=file:") && all.contains("\nmapreduce_map_input_file=file:"), all);
    assertTrue(told.contains("GREETING=a=b") && told.contains("long_setting=" + "x".repeat(20_000)));
  }

  @Test
  void theDriverGetsTheFilesThatItLacks() throws Exception {
    Files.writeString(folder.resolve("side.txt"), "side data\n");
    byte[] large = new byte[3_000_000];
    java.util.Arrays.fill(large, (byte) 'x');
    Files.write(folder.resolve("large.bin"), large);
    Map<String, byte[]> got = new ConcurrentHashMap<>();
    Map<String, String> told = new ConcurrentHashMap<>();
    FakeDriver.Behaviour asking = talk -> {
      Fields offer = talk.expect(Frame.OFFER);
      talk.answer("gpu", "", "");
      Fields need = new Fields();
      for (String file : talk.expect(Frame.RUN).texts("file")) {
        told.put(file.split("\0")[0], file);
        need.add("name", file.split("\0")[0]);
      }
      talk.send(Frame.NEED, need);
      for (String name : need.texts("name")) {
        got.put(name, talk.data());
      }
      PlugInTest.send(talk, PlugInTest.count(offer), 4096);
      talk.end();
    };
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), asking)) {
      LocalJob job = new LocalJob(folder).set("tmpfiles", folder.resolve("side.txt").toUri() + "#other-name,"
          + folder.resolve("large.bin").toUri()).set(Settings.FILES_SHA256, "large.bin=" + "a".repeat(64));
      assertEquals(1, job.run("one line\n").total(HeteroCounters.GPU_MAPS));
    }
    assertEquals(Set.of("wc.hdp/bin/combine", "wc.hdp/bin/map", "wc.hdp/bin/reduce", "wc.hdp/manifest.json", "other-name",
        "large.bin"), told.keySet());
    assertEquals("side data\n", new String(got.get("other-name"), StandardCharsets.UTF_8));
    assertArrayEquals(large, got.get("large.bin"));
    assertEquals("large.bin\0" + "a".repeat(64) + "\0" + large.length, told.get("large.bin").substring(0, 82));
    String map = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(got.get("wc.hdp/bin/map")));
    assertEquals("wc.hdp/bin/map\0" + map + "\0" + got.get("wc.hdp/bin/map").length + "\0x", told.get("wc.hdp/bin/map"));
  }

  @Test
  void noOtherFileIsGiven() throws Exception {
    Files.writeString(folder.resolve("secret"), "secret");
    for (String name : List.of("../secret", folder.resolve("secret").toString(), "job.xml", "wc.hdp/../wc.hdp/bin/map")) {
      FakeDriver.Behaviour asking = talk -> {
        talk.expect(Frame.OFFER);
        talk.answer("gpu", "", "");
        talk.expect(Frame.RUN);
        talk.send(Frame.NEED, new Fields().add("name", name));
        talk.end();
      };
      Path place = folder.resolve("driver" + Math.abs(name.hashCode()));
      try (FakeDriver driver = new FakeDriver(place, asking)) {
        LocalJob job = new LocalJob(folder).reducers(0).set(Settings.DRIVER_DIR, place.toString());
        assertEquals(1, job.run("one line\n").total(HeteroCounters.FALLBACKS));
        assertTrue(driver.heard.contains("FAILED"), name);
      }
    }
  }

  /** A driver that has the task read the file, in ranges, also past its end; `read` is called in its thread. */
  @Test
  void theTaskReadsTheSplitWhereTheDriverCannot() throws Exception {
    FakeDriver.Behaviour reading = talk -> {
      Fields offer = talk.expect(Frame.OFFER);
      talk.answer("gpu", "", "");
      talk.expect(Frame.RUN);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      for (byte[] piece = read(talk, 0, 1500); piece.length > 0; piece = read(talk, bytes.size(), 1500)) {
        bytes.write(piece);
      }
      assertEquals(0, read(talk, bytes.size() + 1_000_000, 10).length);
      Path copy = Files.write(Files.createTempFile(folder, "copy", ""), bytes.toByteArray());
      WordCount count = new WordCount(offer).run(copy.toUri().toString(), offer.number("start"), offer.number("length"), "");
      PlugInTest.send(talk, count, Frame.MAX_DATA);
      talk.end();
    };
    Map<String, String> expected = new LocalJob(folder).withoutPlugIn().run().output;
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), reading)) {
      LocalJob.Outcome found = new LocalJob(folder).run();
      assertEquals(expected, found.output);
      assertEquals(4, found.total(HeteroCounters.GPU_MAPS));
    }
  }

  private static byte[] read(FakeDriver.Talk talk, long offset, long length) throws IOException {
    talk.send(Frame.READ, new Fields().add("offset", offset).add("length", length));
    return talk.data();
  }

  /** A job conf as a map attempt has it, without a cluster. */
  private JobConf attempt(String id) throws IOException {
    JobConf job = new LocalJob(folder).conf(folder.resolve("in"), folder.resolve("out"));
    job.set("mapreduce.task.attempt.id", id);
    job.setNumMapTasks(7);
    return job;
  }

  private FileSplit split() throws IOException {
    Path file = Files.writeString(folder.resolve("a b%.txt"), "one line\n");
    return new FileSplit(new org.apache.hadoop.fs.Path(file.toUri()), 0, 9, new String[0]);
  }

  @Test
  void theOfferSaysWhichTaskThisIs() throws Exception {
    List<Fields> offers = new ArrayList<>();
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), talk -> offers.add(talk.expect(Frame.OFFER)))) {
      JobConf job = attempt("attempt_1700000000000_0012_m_000003_0");
      job.set(Settings.POLICY, "tail");
      job.set(Settings.RECORD_DELIMITER, "\u0001");
      MapAttempt.begin(split(), job, Reporter.NULL).close();
    }
    Fields offer = offers.get(0);
    assertEquals("3", offer.text("version"));
    assertEquals("job_1700000000000_0012", offer.text("job"));
    assertEquals("attempt_1700000000000_0012_m_000003_0", offer.text("attempt"));
    assertEquals(folder.resolve("a b%.txt").toUri().getRawPath(), java.net.URI.create(offer.text("path")).getRawPath());
    assertEquals("0 9 7 2 1 tail", String.join(" ", offer.text("start"), offer.text("length"), offer.text("maps"),
        offer.text("reduces"), offer.text("combine"), offer.text("policy")));
    assertArrayEquals(new byte[] {1}, offer.bytes("delimiter"));
    assertTrue(offer.texts("conf").contains("heterodoop.bundle=wc.hdp"));
    assertTrue(offer.texts("conf").contains("mapreduce.task.io.sort.mb=4"));
    assertFalse(offer.texts("conf").toString().contains("mapred.map.runner"));
  }

  @Test
  void aRepeatedAttemptIsForTheCpuAndTheDriverKnows() throws Exception {
    Map<String, String> retries = new TreeMap<>();
    FakeDriver.Behaviour answering = talk -> {
      Fields offer = talk.expect(Frame.OFFER);
      retries.put(offer.text("attempt"), offer.text("retry"));
      talk.answer(offer.flag("retry") ? "cpu" : "gpu", "", "");
      talk.receive();
    };
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), answering)) {
      JobConf first = attempt("attempt_1700000000000_0012_m_000003_0");
      JobConf second = attempt("attempt_1700000000000_0012_m_000003_1");
      assertTrue(MapAttempt.begin(split(), first, Reporter.NULL).atDriver());
      assertFalse(MapAttempt.begin(split(), second, Reporter.NULL).atDriver());
      assertEquals(null, MapAttempt.of(first), "an attempt of the same thread that Hadoop never closed");
      second.setBoolean(Settings.GPU_RETRY, true);
      assertTrue(MapAttempt.begin(split(), second, Reporter.NULL).atDriver());
      MapAttempt.of(second).close();
      assertEquals(null, MapAttempt.of(second));
      assertEquals(List.of("0", "0"), new ArrayList<>(retries.values()), "the second one asked again, and was let");
    }
  }

  @Test
  void aPersonSeesTheWaitAndHadoopSeesProgress() throws Exception {
    List<String> shown = new ArrayList<>();
    int[] progress = {0};
    Reporter reporter = (Reporter) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Reporter.class},
        (self, method, arguments) -> {
          if (method.getName().equals("setStatus")) {
            shown.add((String) arguments[0]);
          }
          progress[0] += method.getName().equals("progress") ? 1 : 0;
          return null;
        });
    FakeDriver.Behaviour slow = talk -> {
      Fields offer = talk.expect(Frame.OFFER);
      talk.send(Frame.ANSWER, new Fields().add("run", "gpu").add("ahead", 2).add("forced", "1")
          .add("version", Frame.VERSION));
      talk.expect(Frame.RUN);
      for (String ahead : List.of("2", "1", "")) {
        talk.send(Frame.PROGRESS, ahead.isEmpty() ? new Fields().add("text", "mapping").add("fraction", "0.5")
            : new Fields().add("ahead", ahead));
        Thread.sleep(1100);
      }
      talk.send(Frame.REFUSED, new Fields().add("reason", "a kernel failed").add("code", ""));
      talk.receive();
    };
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), slow)) {
      MapAttempt attempt = MapAttempt.begin(split(), attempt("attempt_1700000000000_0012_m_000003_0"), reporter);
      attempt.setTarget((result, connection, ignored) -> { });
      assertFalse(attempt.runAtDriver(reporter));
      attempt.close();
    }
    assertEquals(List.of("waiting for GPU, 2 ahead", "waiting for GPU, 1 ahead", "GPU: mapping",
        "CPU: the driver gives it back: a kernel failed"), shown);
    assertTrue(progress[0] >= 4);
  }

  @Test
  void aDriverThatTakesNothingIsNotWaitedFor() throws Exception {
    FakeDriver.Behaviour stopped = talk -> {
      talk.expect(Frame.OFFER);
      talk.answer("gpu", "", "");
      talk.expect(Frame.RUN);
      talk.send(Frame.NEED, new Fields().add("name", "large.bin"));
      talk.sleep();
    };
    try (OutputStream large = Files.newOutputStream(folder.resolve("large.bin"))) {
      large.write(new byte[8_000_000]);
    }
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), stopped)) {
      LocalJob job = new LocalJob(folder).reducers(0).set(Settings.SILENCE_MS, "200")
          .set("tmpfiles", folder.resolve("large.bin").toUri().toString());
      assertEquals(1, job.run("one line\n").total(HeteroCounters.FALLBACKS));
    }
  }
}

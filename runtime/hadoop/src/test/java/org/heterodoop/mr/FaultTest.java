package org.heterodoop.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Drivers that fail in every way: each attempt runs on the CPU, and the job's output is what it always is. */
class FaultTest {
  private static final Map<String, Map<String, String>> EXPECTED = new TreeMap<>();

  @TempDir
  Path folder;

  private static FakeDriver.Behaviour accepting(FakeDriver.Behaviour afterRun) {
    return talk -> {
      talk.expect(Frame.OFFER);
      talk.answer("gpu", "", "");
      talk.expect(Frame.RUN);
      afterRun.serve(talk);
    };
  }

  /** Sends a result that `spoil` has changed. */
  private static FakeDriver.Behaviour sending(java.util.function.Consumer<WordCount> before,
      java.util.function.Consumer<WordCount> after) {
    return talk -> {
      Fields offer = talk.expect(Frame.OFFER);
      talk.answer("gpu", "", "");
      talk.expect(Frame.RUN);
      WordCount count = new WordCount(offer);
      before.accept(count);
      count.run(offer.text("path"), offer.number("start"), offer.number("length"), "");
      after.accept(count);
      PlugInTest.send(talk, count, 300);
      talk.end();
    };
  }

  private static FakeDriver.Behaviour half() {
    return talk -> {
      Fields offer = talk.expect(Frame.OFFER);
      talk.answer("gpu", "", "");
      talk.expect(Frame.RUN);
      WordCount count = PlugInTest.count(offer);
      talk.send(Frame.RESULT, count.result());
      if (count.index.length > 0) {
        talk.data(count.index, 100);
      }
      talk.send(Frame.DATA, Arrays.copyOf(count.data, count.data.length / 2));
    };
  }

  private static void flip(byte[] bytes, int at) {
    bytes[at] ^= 1;
  }

  /** The index says that the first partition is one byte longer, with a right checksum. */
  private static void stretch(WordCount count) {
    ByteBuffer index = ByteBuffer.wrap(count.index);
    index.putLong(8, index.getLong(8) + 1).putLong(16, index.getLong(16) + 1);
    index.putLong(count.index.length - 8, WordCount.crc(count.index, count.index.length - 8));
  }

  private static FakeDriver.Behaviour behaviour(String fault) {
    switch (fault) {
      case "refused":
        return accepting(talk -> {
          talk.send(Frame.REFUSED, new Fields().add("reason", "a kernel failed").add("code", "HD999"));
          talk.end();
        });
      case "garbage":
        return accepting(talk -> talk.raw(new byte[] {0x7f, 0, 0, 1, 7, 1, 2, 3}));
      case "unknown type":
        return accepting(talk -> {
          talk.send(77, new Fields());
          talk.end();
        });
      case "no number":
        return accepting(talk -> {
          talk.send(Frame.RESULT, new Fields().add("index", "x").add("data", "-1").add("text", "0"));
          talk.end();
        });
      case "hangs up":
        return accepting(talk -> talk.hear("gone"));
      case "half of the data":
        return half();
      case "silent":
        return accepting(FakeDriver.Talk::sleep);
      case "bad CRC":
        return sending(count -> { }, count -> flip(count.data, count.data.length / 2));
      case "bad index":
        return sending(count -> { }, count -> flip(count.index, 5));
      case "wrong lengths":
        return sending(count -> { }, FaultTest::stretch);
      case "unsorted":
        return sending(count -> count.unsorted = true, count -> { });
      case "wrong partition":
        return sending(count -> count.misplaced = true, count -> { });
      case "too much data":
        return sending(count -> { }, count -> count.data = Arrays.copyOf(count.data, count.data.length + 1));
      default:
        throw new IllegalArgumentException(fault);
    }
  }

  /** The output of plain streaming, found once for each number of reducers. */
  private Map<String, String> expected(int reducers) throws Exception {
    String key = Integer.toString(reducers);
    if (!EXPECTED.containsKey(key)) {
      EXPECTED.put(key, new LocalJob(folder).reducers(reducers).withoutPlugIn().run().output);
    }
    return EXPECTED.get(key);
  }

  @ParameterizedTest
  @ValueSource(strings = {"refused", "garbage", "unknown type", "no number", "hangs up", "half of the data", "silent",
      "bad CRC", "bad index", "wrong lengths", "unsorted", "wrong partition", "too much data"})
  void theAttemptGoesOnOnTheCpu(String fault) throws Exception {
    Map<String, String> expected = expected(2);
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), behaviour(fault))) {
      LocalJob.Outcome found = new LocalJob(folder).set(Settings.SILENCE_MS, fault.equals("silent") ? "200" : "5000")
          .set(Settings.VERIFY, "true").run();
      assertEquals(expected, found.output);
      assertEquals(4, found.total(HeteroCounters.FALLBACKS));
      assertEquals(4, found.total(HeteroCounters.CPU_MAPS));
      assertEquals(0, found.total(HeteroCounters.GPU_MAPS));
      assertEquals(4, found.hetero("FALLBACK_" + reason(fault)), found.counters.toString());
      if (fault.equals("refused")) {
        assertEquals(4, driver.heard.stream().filter("CPU_DONE"::equals).count());
      }
      if (fault.startsWith("unsorted") || fault.equals("bad CRC")) {
        assertTrue(driver.heard.toString().contains(fault.equals("bad CRC") ? "wrong checksum" : "not sorted"));
      }
    }
  }

  /** What the counter says of it. */
  private static String reason(String fault) {
    switch (fault) {
      case "refused":
        return "HD999";
      case "silent":
        return "DRIVER_SILENT";
      case "hangs up":
      case "half of the data":
        return "DRIVER_GONE";
      default:
        return "BAD_RESULT";
    }
  }

  @Test
  void fullDisksAreReasonsOfTheirOwn() {
    String full = "No space left on device";
    assertEquals("DRIVER_DISK", Fallback.kind(new RefusedException("the GPU driver's store: [Errno 28] " + full, "HD616")));
    assertEquals("HD616", Fallback.kind(new RefusedException("the task cannot send its files", "HD616")));
    assertEquals("REFUSED", Fallback.kind(new RefusedException("no", "")));
    assertEquals("NODE_DISK", Fallback.kind(new IOException(full)));
    assertEquals("OTHER", Fallback.kind(new IOException((String) null)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"refused", "half of the data", "hangs up"})
  void soDoesOneWithoutReducers(String fault) throws Exception {
    Map<String, String> expected = expected(0);
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), behaviour(fault))) {
      LocalJob.Outcome found = new LocalJob(folder).reducers(0).run();
      assertEquals(expected, found.output);
      assertEquals(4, found.total(HeteroCounters.FALLBACKS));
      assertEquals(fault.equals("refused"), driver.heard.contains("CPU_DONE"));
    }
  }

  private void declined(String counter, FakeDriver.Behaviour behaviour) throws Exception {
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), behaviour)) {
      assertDeclined(counter, new LocalJob(folder).set(Settings.SILENCE_MS, "200"));
      assertTrue(driver.failures.isEmpty());
    }
  }

  /** A job with one map task. */
  private static void assertDeclined(String counter, LocalJob job) throws Exception {
    LocalJob.Outcome found = job.reducers(0).run("a line\n");
    assertEquals(Map.of("part-00000", "a\t1\nline\t1\n"), found.output);
    assertEquals(1, found.hetero("DECLINED_" + counter), found.counters.toString());
    assertEquals(1, found.total(HeteroCounters.DECLINES));
    assertEquals(1, found.total(HeteroCounters.CPU_MAPS));
    assertEquals(0, found.total(HeteroCounters.FALLBACKS));
  }

  @Test
  void aDriverOfAnotherVersionIsNotUsed() throws Exception {
    declined("VERSION", talk -> {
      talk.expect(Frame.OFFER);
      talk.send(Frame.ANSWER, new Fields().add("run", "gpu").add("version", "2"));
      talk.receive();
    });
  }

  @Test
  void aDriverThatDoesNotAnswerIsNotWaitedFor() throws Exception {
    declined("DRIVER_ERROR", FakeDriver.Talk::sleep);
  }

  @Test
  void whatTheDriverHasAgainstTheJobIsCountedByItsCode() throws Exception {
    declined("HD612", talk -> {
      talk.expect(Frame.OFFER);
      talk.answer("cpu", "the bundle has no kernel", "HD612");
      talk.end();
    });
  }

  @Test
  void noDriverIsOneCounter() throws Exception {
    assertDeclined("NO_DRIVER", new LocalJob(folder));
  }

  @Test
  void aSocketThatAKilledDriverLeftIsNoHindrance() throws Exception {
    new FakeDriver(folder.resolve("driver"), FakeDriver.Talk::sleep).close();
    assertTrue(Files.exists(folder.resolve("driver/driver.sock")));
    assertDeclined("DRIVER_ERROR", new LocalJob(folder));
  }

  @ParameterizedTest
  @ValueSource(strings = {"rwxr-xr-x", "rwx--x---"})
  void aFolderThatOthersCanEnterIsNotTrusted(String mode) throws Exception {
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), talk -> talk.hear("asked"))) {
      Files.setPosixFilePermissions(driver.folder, PosixFilePermissions.fromString(mode));
      assertDeclined("UNTRUSTED", new LocalJob(folder));
      assertTrue(driver.heard.isEmpty());
    }
  }

  @Test
  void aLinkToAFolderIsNotTrusted() throws Exception {
    try (FakeDriver driver = new FakeDriver(folder.resolve("elsewhere"), talk -> talk.hear("asked"))) {
      Files.createSymbolicLink(folder.resolve("driver"), driver.folder);
      assertDeclined("UNTRUSTED", new LocalJob(folder));
      assertTrue(driver.heard.isEmpty());
    }
  }

  @Test
  void aFolderOfAnotherUserIsNotTrusted() throws Exception {
    assumeTrue(DriverAddress.ownUid() == 0, "only root can give a folder away");
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), talk -> talk.hear("asked"))) {
      for (Path path : new Path[] {driver.folder.resolve("driver.sock"), driver.folder}) {
        Files.setAttribute(path, "unix:uid", 12345);
        assertDeclined("UNTRUSTED", new LocalJob(folder));
      }
      assertTrue(driver.heard.isEmpty());
    }
  }

  /** Our folder and socket, but a process of another user listens: only SO_PEERCRED tells. */
  @Test
  void aProcessOfAnotherUserIsNotTrusted() throws Exception {
    assumeTrue(DriverAddress.ownUid() == 0 && Files.isExecutable(Path.of("/usr/bin/python3")), "needs root and Python");
    Path place = Files.createDirectory(folder.resolve("driver"), PosixFilePermissions.asFileAttribute(
        PosixFilePermissions.fromString("rwx------")));
    String program = "import os, socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\nos.setuid(12345)\n"
        + "s.listen()\nprint('ready', flush=True)\nc, _ = s.accept()\nprint(len(c.recv(9)), flush=True)\n";
    Process other = new ProcessBuilder("/usr/bin/python3", "-c", program, place.resolve("driver.sock").toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader said = other.inputReader()) {
      assertEquals("ready", said.readLine());
      assertDeclined("UNTRUSTED", new LocalJob(folder));
      assertEquals("0", said.readLine(), "bytes that it got");
    } finally {
      other.destroyForcibly();
    }
  }

  @Test
  void aFullQueueEndsTheWait() throws Exception {
    Map<String, String> expected = expected(2);
    FakeDriver.Behaviour full = accepting(talk -> {
      for (int i = 0; i < 400; i++) {
        talk.send(Frame.PROGRESS, new Fields().add("ahead", 3));
        Thread.sleep(10);
      }
    });
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), full)) {
      LocalJob.Outcome found = new LocalJob(folder).set(Settings.WAIT_MAX_MS, "100").run();
      assertEquals(expected, found.output);
      assertEquals(4, found.total(HeteroCounters.FALLBACKS));
      assertEquals(4, found.hetero("FALLBACK_QUEUE"));
      assertEquals(0, driver.heard.stream().filter("closed"::equals).count());
    }
  }

  @Test
  void overTcpBothEndsProveTheSecret() throws Exception {
    byte[] secret = new byte[32];
    secret[31] = (byte) 0xab;
    String text = "0".repeat(62) + "ab";
    try (FakeDriver driver = FakeDriver.tcp(folder.resolve("driver"), secret, text + "\n", PlugInTest::compute)) {
      LocalJob.Outcome found = new LocalJob(folder).set(Settings.DRIVER_TCP, "true").run();
      assertEquals(4, found.total(HeteroCounters.GPU_MAPS));
      assertTrue(driver.heard.contains("INSTALLED"));
    }
  }

  @Test
  void overTcpAnotherSecretIsNotTrusted() throws Exception {
    try (FakeDriver driver = FakeDriver.tcp(folder.resolve("driver"), new byte[32], "1".repeat(64), PlugInTest::compute)) {
      assertDeclined("UNTRUSTED", new LocalJob(folder).set(Settings.DRIVER_TCP, "true"));
      Files.setPosixFilePermissions(driver.folder.resolve("secret"), PosixFilePermissions.fromString("r--r--r--"));
      assertDeclined("UNTRUSTED", new LocalJob(folder).set(Settings.DRIVER_TCP, "true"));
    }
  }

  @Test
  void aFailedFilterFailsTheJobAndTellsTheDriverNothing() throws Exception {
    FakeDriver.Behaviour cpu = talk -> {
      talk.expect(Frame.OFFER);
      talk.answer("cpu", "", "");
      talk.end();
    };
    for (int reducers : new int[] {0, 1}) {
      try (FakeDriver driver = new FakeDriver(folder.resolve("driver" + reducers), cpu)) {
        LocalJob job = new LocalJob(folder).reducers(reducers).set(Settings.DRIVER_DIR, driver.folder.toString());
        LocalJob.Outcome found = job.env("FAIL", "1").run();
        assertEquals(false, found.successful);
        driver.await("closed");
        assertEquals(false, driver.heard.contains("CPU_DONE"));
      }
    }
  }

  @Test
  void theFolderOfTheNodeManagerComesFirst() throws IOException {
    assertEquals("[driver-18100.sock, driver.sock]", DriverAddress.names(".sock", "18100").toString());
    assertEquals("[driver.port]", DriverAddress.names(".port", null).toString());
    assertEquals("[driver.sock]", DriverAddress.names(".sock", "../x").toString());
    String uid = Integer.toString(DriverAddress.ownUid());
    assertEquals("[/run/heterodoop-" + uid + ", /tmp/heterodoop-" + uid + "]",
        DriverAddress.folders(new org.apache.hadoop.mapred.JobConf(false)).toString());
  }
}

package org.heterodoop.mr;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MROutputFiles;
import org.apache.hadoop.mapred.Reporter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bytes on the wire, the index, the checksums, and where the two files go. */
class FormatTest {
  @TempDir
  Path folder;

  @Test
  void aMessageHasTheseBytes() throws IOException {
    Fields fields = new Fields().add("run", "gpu").add("ahead", 2).add("ahead", "\u00e9");
    byte[] bytes = fields.encode();
    assertEquals("0003" + "0372756e00000003677075" + "056168656164" + "0000000132" + "056168656164" + "00000002c3a9",
        HexFormat.of().formatHex(bytes));
    Fields read = Fields.decode(bytes, bytes.length);
    assertEquals("gpu", read.text("run"));
    assertEquals(List.of("2", "\u00e9"), read.texts("ahead"));
    assertEquals("", read.text("none"));
    assertEquals("0000", HexFormat.of().formatHex(new Fields().encode()));
  }

  @Test
  void aCutOrStretchedMessageIsRefused() throws IOException {
    byte[] bytes = new Fields().add("run", "gpu").encode();
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThrows(ProtocolException.class, () -> Fields.decode(cut, cut.length), "cut at " + length);
    }
    assertThrows(ProtocolException.class, () -> Fields.decode(Arrays.copyOf(bytes, bytes.length + 1), bytes.length + 1));
    byte[] negative = HexFormat.of().parseHex("0001" + "0178" + "80000000");
    assertThrows(ProtocolException.class, () -> Fields.decode(negative, negative.length));
  }

  @Test
  void numbersMustBeNumbers() {
    for (String text : new String[] {"", "-1", "1.5", "99999999999999999999"}) {
      assertThrows(ProtocolException.class, () -> new Fields().add("n", text).number("n"), text);
    }
  }

  private WordCount count(int reduces, String codec) throws IOException {
    Path file = Files.writeString(folder.resolve("in.txt"), LocalJob.text());
    Fields offer = new Fields().add("reduces", reduces).add("combine", "1").add("codec", codec);
    return new WordCount(offer).run(file.toUri().toString(), 0, Files.size(file), "");
  }

  @Test
  void checksumsHoldForPiecesOfEverySize() throws IOException {
    WordCount count = count(5, "");
    MapOutputIndex index = new MapOutputIndex(count.index, 5, count.data.length, false);
    for (int piece : new int[] {1, 2, 3, 5, 7, 64, 100_000}) {
      assertEquals(-1, firstFault(index, count.data, piece));
      byte[] cut = Arrays.copyOf(count.data, count.data.length - 1);
      assertEquals(cut.length, firstFault(index, cut, piece), "the end is missing");
      for (int at : new int[] {0, 10, count.data.length - 1}) {
        byte[] wrong = count.data.clone();
        wrong[at] ^= 0x40;
        assertTrue(firstFault(index, wrong, piece) >= 0);
      }
    }
  }

  /** Where the fault is noticed, or -1. */
  private static int firstFault(MapOutputIndex index, byte[] data, int piece) {
    SegmentChecksums checksums = new SegmentChecksums(index);
    int at = 0;
    try {
      for (; at < data.length; at += Math.min(piece, data.length - at)) {
        byte[] part = Arrays.copyOfRange(data, at, Math.min(data.length, at + piece));
        checksums.update(part, part.length);
      }
      checksums.finish();
      return -1;
    } catch (ProtocolException e) {
      return at;
    }
  }

  @Test
  void anIndexMustFitItsFile() throws IOException {
    WordCount count = count(3, "");
    int length = count.data.length;
    new MapOutputIndex(count.index, 3, length, false);
    assertThrows(ProtocolException.class, () -> new MapOutputIndex(count.index, 2, length, false));
    assertThrows(ProtocolException.class, () -> new MapOutputIndex(count.index, 3, length + 1, false));
    assertThrows(ProtocolException.class, () -> new MapOutputIndex(count.index, 3, length - 1, false));
    for (int at = 0; at < 72; at += 8) {  // each number alone, with a right checksum
      ByteBuffer wrong = ByteBuffer.wrap(count.index.clone());
      wrong.putLong(at, wrong.getLong(at) + 1).putLong(72, WordCount.crc(wrong.array(), 72));
      assertThrows(ProtocolException.class, () -> new MapOutputIndex(wrong.array(), 3, length, false), "number " + at / 8);
      byte[] unsigned = count.index.clone();
      unsigned[at] ^= 1;
      assertThrows(ProtocolException.class, () -> new MapOutputIndex(unsigned, 3, length, false));
    }
    ByteBuffer huge = ByteBuffer.wrap(count.index.clone());
    huge.putLong(16, Long.MAX_VALUE).putLong(24, Long.MIN_VALUE).putLong(72, WordCount.crc(huge.array(), 72));
    assertThrows(ProtocolException.class, () -> new MapOutputIndex(huge.array(), 3, length, true));
  }

  /** Sends a result from a fake driver to a ShuffleOutput with two local folders; what is in them afterwards. */
  private List<Path> receive(WordCount count, boolean verify, boolean fails) throws Exception {
    JobConf job = new JobConf();
    job.set("mapreduce.cluster.local.dir", folder.resolve("a") + "," + folder.resolve("b"));
    job.set("mapreduce.task.attempt.id", "attempt_1700000000000_0012_m_000003_0");
    job.setNumReduceTasks(3);
    job.setBoolean(Settings.VERIFY, verify);
    Files.createDirectories(folder.resolve("a"));
    Files.createDirectories(folder.resolve("b"));
    MROutputFiles files = new MROutputFiles();
    files.setConf(job);
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), talk -> PlugInTest.send(talk, count, 200))) {
      job.set(Settings.DRIVER_DIR, driver.folder.toString());
      try (Connection connection = new DriverSocket(job, null).open()) {
        MapResult result = new MapResult(connection.receive().expect(Frame.RESULT), false);
        ShuffleOutput output = new ShuffleOutput(job, files);
        if (fails) {
          assertThrows(ProtocolException.class, () -> output.receive(result, connection, Reporter.NULL));
        } else {
          output.receive(result, connection, Reporter.NULL);
        }
      }
    }
    List<Path> left = new ArrayList<>();
    for (String name : new String[] {"a", "b"}) {
      try (Stream<Path> paths = Files.walk(folder.resolve(name))) {
        left.addAll(paths.filter(Files::isRegularFile).toList());
      }
    }
    return left;
  }

  @Test
  void bothFilesAreInPlaceWithTheModeOfTheShuffle() throws Exception {
    WordCount count = count(3, "");
    List<Path> left = receive(count, true, false);
    assertEquals(2, left.size());
    for (Path path : left) {
      assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
      assertArrayEquals(path.toString().endsWith(".index") ? count.index : count.data, Files.readAllBytes(path));
    }
  }

  @Test
  void ofABadResultNothingIsLeftInAnyLocalFolder() throws Exception {
    WordCount late = count(3, "");
    late.data[late.data.length - 1] ^= 1;
    assertEquals(List.of(), receive(late, false, true));
    WordCount unsorted = new WordCount(new Fields().add("reduces", 3).add("combine", "1").add("codec", ""));
    unsorted.unsorted = true;
    unsorted.run(folder.resolve("in.txt").toUri().toString(), 0, 4000, "");
    assertEquals(List.of(), receive(unsorted, true, true));
  }

  @Test
  void theConnectionRefusesWhatIsTooLong() throws Exception {
    byte[] huge = {(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, 9};
    byte[] longControl = {0, 1, 0, 2, 5};
    byte[] empty = {0, 0, 0, 0, 5};
    for (byte[] header : new byte[][] {huge, longControl, empty}) {
      try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), talk -> talk.raw(header))) {
        SocketAddress address = UnixDomainSocketAddress.of(driver.folder.resolve("driver.sock"));
        try (Connection connection = new Connection(SocketChannel.open(address), 2000)) {
          assertThrows(ProtocolException.class, connection::receive);
        }
      }
    }
    assertThrows(ProtocolException.class, () -> new Frame(Frame.PROGRESS, new byte[0], 0).expect(Frame.ANSWER));
    assertEquals("h\u00e9", new Fields().add("x", "h\u00e9".getBytes(StandardCharsets.UTF_8)).text("x"));
  }
}

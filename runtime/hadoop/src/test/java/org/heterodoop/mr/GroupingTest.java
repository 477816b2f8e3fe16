package org.heterodoop.mr;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Attempts of several splits: which these are, and that a job's output and counters are those of plain streaming. */
class GroupingTest {
  private static final long MIB = 1 << 20;

  @TempDir
  Path folder;

  private final List<FileSplit> splits = new ArrayList<>();
  private final Map<FileSplit, String[]> hosts = new IdentityHashMap<>();

  private void split(long mib, String... where) {
    FileSplit split = new FileSplit(new org.apache.hadoop.fs.Path("/f" + splits.size()), 0, mib * MIB, where);
    splits.add(split);
    hosts.put(split, where);
  }

  /** Groups as "f0 f2 @host,host". */
  private List<String> grouped(long mib) throws IOException {
    List<String> found = new ArrayList<>();
    for (FileSplit group : Grouping.group(splits, hosts, mib * MIB)) {
      StringBuilder text = new StringBuilder();
      for (FileSplit part : GroupedSplit.parts(group)) {
        text.append(part.getPath().getName()).append(' ');
      }
      found.add(text + "@" + String.join(",", group.getLocations()));
    }
    return found;
  }

  @Test
  void splitsOfANodeAreAGroupAndItsHostsHaveMostOfIt() throws IOException {
    split(6, "a", "b");
    split(6, "c", "b");
    split(6, "a", "c");
    split(6, "b", "d");
    split(90, "d");  // more than a group may have
    assertEquals(List.of("f0 f2 @a,b,c", "f1 f3 @b,c,d", "f4 @d"), grouped(13));
  }

  @Test
  void whatNodesHaveTooLittleOfIsGroupedAcrossThemInOrder() throws IOException {
    for (int i = 0; i < 7; i++) {
      split(3, "n" + i);
    }
    split(1);
    assertEquals(List.of("f0 f1 f2 @n0,n1,n2", "f3 f4 f5 @n3,n4,n5", "f6 f7 @n6"), grouped(10));
  }

  @Test
  void anAttemptDoesAboutTwoShares() {
    for (int i = 0; i < 100; i++) {
      split(64, "a");
    }
    assertEquals(Grouping.LEAST, Grouping.chosen(splits, 1000));
    assertEquals(Grouping.MOST, Grouping.chosen(splits, 1));
    assertEquals(400 * MIB, Grouping.chosen(splits, 8), 1 * MIB);
    assertEquals(Grouping.LEAST, Grouping.chosen(splits, 0));
  }

  @Test
  void emptyFilesAreNotAllOfOneAttempt() throws IOException {
    for (int i = 0; i < 10_000; i++) {
      split(0, "a");
    }
    assertTrue(grouped(16).size() > 3);
  }

  @Test
  void aGroupIsWrittenAndRead() throws IOException {
    split(5, "a");
    split(7, "a");
    DataOutputBuffer out = new DataOutputBuffer();
    FileSplit group = Grouping.group(splits, hosts, 100 * MIB).get(0);
    group.write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    GroupedSplit read = new GroupedSplit();
    read.readFields(in);
    assertEquals(group.toString(), read.toString());
    assertEquals("2 splits: /f0:0+5242880, /f1:0+7340032", read.toString());
    assertEquals(12 * MIB, read.getLength());
    assertArrayEquals(new String[] {"a"}, group.getLocations());
  }

  /** Of a folder, whose files end and begin in every way, in small splits; on GPUs and not. */
  @ParameterizedTest
  @CsvSource({"false,false", "false,true", "true,false"})
  void aJobOfGroupsIsThatOfItsSplits(boolean gpu, boolean joined) throws Exception {
    Path input = Files.createDirectories(folder.resolve("in"));
    for (int i = 0; i < 6; i++) {
      Files.writeString(input.resolve("part " + i), (i % 2 == 0 ? "\ufeff" : "") + LocalJob.text() + (i == 3 ? "\r" : ""));
    }
    Files.writeString(input.resolve("nothing"), "");
    String most = "3000";
    LocalJob.Outcome plain = job().withoutPlugIn().run(input);
    LocalJob.Outcome singly = job().set(Settings.MAX_SPLIT, most).run(input);
    LocalJob grouped = job().set(Settings.MAX_SPLIT, most).set(Settings.GROUP_BYTES, "100000")
        .set(Settings.GROUP_JOINED, Boolean.toString(joined));
    LocalJob.Outcome found;
    if (gpu) {
      try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), PlugInTest::compute)) {
        found = grouped.set(Settings.VERIFY, "true").run(input);
        assertTrue(driver.failures.isEmpty(), driver.failures::toString);
      }
    } else {
      found = grouped.run(input);
    }
    assertEquals(plain.output, found.output);
    assertEquals(plain.output, singly.output);
    for (TaskCounter same : List.of(TaskCounter.MAP_INPUT_RECORDS, TaskCounter.MAP_OUTPUT_RECORDS, TaskCounter.MAP_OUTPUT_BYTES,
        TaskCounter.COMBINE_INPUT_RECORDS, TaskCounter.REDUCE_OUTPUT_RECORDS)) {
      assertEquals(plain.counters.getCounter(same), found.counters.getCounter(same), same.name());
    }
    long attempts = found.total(gpu ? HeteroCounters.GPU_MAPS : HeteroCounters.CPU_MAPS);
    long splits = found.total(HeteroCounters.GROUPED_SPLITS);
    assertTrue(singly.total(HeteroCounters.CPU_MAPS) - splits < 2, "splits: " + splits);  // one may be left alone
    assertTrue(attempts > 0 && attempts * 5 < splits, "attempts: " + attempts);
    assertTrue(gpu || found.counters.getCounter(FileInputFormatCounter.BYTES_READ) > 0);
  }

  private LocalJob job() throws IOException {
    return new LocalJob(folder).reducers(2);
  }

  @Test
  void withoutReducersEachSplitHasItsFile() throws Exception {
    LocalJob.Outcome found = job().reducers(0).set(Settings.MAX_SPLIT, "3000").set(Settings.GROUP_BYTES, "40000").run();
    assertTrue(found.output.size() > 1);
    assertEquals(0, found.total(HeteroCounters.GROUPED_SPLITS));
  }
}

package org.heterodoop.mr;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.mapred.FileSplit;

/**
 * Which splits one attempt does together: those that lie on one node, as far as there are enough, then what is left, in the
 * order of the input. Pure, and the same for the same splits. As CombineFileInputFormat, but that cuts the input anew, and
 * here the splits stay what they are.
 */
final class Grouping {
  /** What the start of a container is worth, at least: the work of a plain filter in a second or more. */
  static final long LEAST = 16L << 20;
  /** Where an attempt's own work outweighs its start by far, and what one that fails has to do again. */
  static final long MOST = 512L << 20;
  /** Of attempts that wait for a slot behind the first: they make up for slots and nodes of different speed. */
  private static final int WAVES = 2;
  /** Bytes that are read in the time in which a file is opened. */
  private static final long OPENING = 8L << 10;
  /** Parts of a group: the driver hears of all in one message. */
  private static final int PARTS = 8192;
  private static final int HOSTS = 3;

  private final List<FileSplit> splits;
  private final Map<FileSplit, String[]> hosts;
  private final long most;
  private final boolean[] taken;

  private Grouping(List<FileSplit> splits, Map<FileSplit, String[]> hosts, long most) {
    this.splits = splits;
    this.hosts = hosts;
    this.most = most;
    this.taken = new boolean[splits.size()];
  }

  /** Bytes of a group where nothing is said about them, for so many slots; 0: nobody knows how many. */
  static long chosen(List<FileSplit> splits, int slots) {
    long sum = 0;
    for (FileSplit split : splits) {
      sum += cost(split);
    }
    return slots == 0 ? LEAST : Math.min(MOST, Math.max(LEAST, sum / ((long) WAVES * slots)));
  }

  /** The splits of the job's attempts, each of at most `most` bytes, or one of the given. `hosts`: of each. */
  static List<FileSplit> group(List<FileSplit> splits, Map<FileSplit, String[]> hosts, long most) {
    Grouping grouping = new Grouping(splits, hosts, most);
    List<List<Integer>> groups = grouping.byNode();
    List<Integer> left = new ArrayList<>();
    for (int i = 0; i < splits.size(); i++) {
      if (!grouping.taken[i]) {
        left.add(i);
      }
    }
    for (int first = 0; first < left.size(); ) {
      List<Integer> group = grouping.fill(left.subList(first, left.size()));
      first += group.size();
      groups.add(group);
    }
    List<FileSplit> found = new ArrayList<>();
    for (List<Integer> group : groups) {
      found.add(grouping.made(group));
    }
    return found;
  }

  /** Groups of which every part lies on one node, and which are half full at least; nodes take turns. */
  private List<List<Integer>> byNode() {
    Map<String, List<Integer>> nodes = new TreeMap<>();
    for (int i = 0; i < splits.size(); i++) {
      for (String host : hosts.get(splits.get(i))) {
        nodes.computeIfAbsent(host, name -> new ArrayList<>()).add(i);
      }
    }
    List<List<Integer>> groups = new ArrayList<>();
    while (!nodes.isEmpty()) {
      nodes.values().removeIf(own -> {
        own.removeIf(i -> taken[i]);
        List<Integer> group = fill(own);
        if (2 * cost(group) < most) {
          return true;
        }
        group.forEach(i -> taken[i] = true);
        groups.add(group);
        return false;
      });
    }
    return groups;
  }

  /** The first of these, as many as fit. */
  private List<Integer> fill(List<Integer> from) {
    List<Integer> group = new ArrayList<>();
    long sum = 0;
    for (int i : from) {
      sum += cost(splits.get(i));
      if (!group.isEmpty() && (sum > most || group.size() == PARTS)) {
        break;
      }
      group.add(i);
    }
    return group;
  }

  private long cost(List<Integer> group) {
    long sum = 0;
    for (int i : group) {
      sum += cost(splits.get(i));
    }
    return sum;
  }

  private static long cost(FileSplit split) {
    return split.getLength() + OPENING;
  }

  private FileSplit made(List<Integer> group) {
    if (group.size() == 1) {
      return splits.get(group.get(0));
    }
    FileSplit[] parts = new FileSplit[group.size()];
    Arrays.setAll(parts, i -> splits.get(group.get(i)));
    return new GroupedSplit(parts, nearest(parts));
  }

  /** The hosts that have most of the bytes, the first one first. */
  private String[] nearest(FileSplit[] parts) {
    Map<String, Long> bytes = new HashMap<>();
    for (FileSplit part : parts) {
      for (String host : hosts.get(part)) {
        bytes.merge(host, cost(part), Long::sum);
      }
    }
    List<String> names = new ArrayList<>(bytes.keySet());
    Collections.sort(names, Comparator.<String, Long>comparing(bytes::get).reversed().thenComparing(name -> name));
    return names.subList(0, Math.min(HOSTS, names.size())).toArray(new String[0]);
  }
}

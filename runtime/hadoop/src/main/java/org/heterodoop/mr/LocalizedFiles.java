package org.heterodoop.mr;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.util.Progressable;

/**
 * The files that Hadoop's distributed cache put into the working folder (-files, -archives), with their hashes.
 *
 * <p>Only these: the folder also holds the container's tokens and launch scripts. Jars of the class path (-libjars) are
 * left out, since filters are no Java.
 */
final class LocalizedFiles {
  private static final int BUFFER = 1 << 20;

  private final SortedMap<String, Path> files = new TreeMap<>();

  LocalizedFiles(JobConf job) throws IOException {
    Set<String> jars = new HashSet<>();
    for (String jar : job.getStrings(Settings.CLASSPATH_FILES, new String[0])) {
      jars.add(new org.apache.hadoop.fs.Path(jar).toUri().getPath());
    }
    for (String key : Arrays.asList(Settings.CACHE_FILES, Settings.CACHE_ARCHIVES)) {
      for (String uri : job.getStrings(key, new String[0])) {
        String name = linkName(uri);
        if (!name.equals("*") && !jars.contains(path(uri))) {
          add(name);
        }
      }
    }
  }

  private static URI uri(String text) throws IOException {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new IOException("not the URI of a localized file: " + text, e);
    }
  }

  private static String path(String text) throws IOException {
    String path = uri(text).getPath();
    return path == null ? "" : path;
  }

  /** The name in the working folder: the fragment, else the last part of the path. */
  private static String linkName(String text) throws IOException {
    String fragment = uri(text).getFragment();
    String path = path(text);
    return fragment != null ? fragment : path.substring(path.lastIndexOf('/') + 1);
  }

  private void add(String name) throws IOException {
    Path root = Paths.get(name);
    if (name.isEmpty() || root.isAbsolute() || root.normalize().startsWith("..")) {
      throw new IOException("a localized file has a name outside the working folder: " + name);
    }
    if (!Files.isDirectory(root)) {
      files.put(name, root);
      return;
    }
    try (Stream<Path> below = Files.walk(root, FileVisitOption.FOLLOW_LINKS)) {
      for (Path path : below.filter(Files::isRegularFile).collect(Collectors.toList())) {
        files.put(path.toString().replace(File.separatorChar, '/'), path);
      }
    }
  }

  /** Adds one field NAME, hash, size, mode a file, NUL between them. Hashes what submit did not. */
  void addTo(Fields fields, JobConf job, Progressable progress) throws IOException {
    Map<String, String> known = knownHashes(job);
    for (Map.Entry<String, Path> file : files.entrySet()) {
      Path path = file.getValue();
      String hash = known.get(file.getKey());
      String mode = Files.isExecutable(path) ? "x" : "-";
      fields.add("file", String.join("\0", file.getKey(), hash == null ? sha256(path, progress) : hash,
          Long.toString(Files.size(path)), mode));
    }
  }

  /** The file of that name, if it is one of those that the driver was told of. */
  Path file(String name) throws ProtocolException {
    Path path = files.get(name);
    if (path == null) {
      throw new ProtocolException("the driver asks for a file that the job does not have: " + name);
    }
    return path;
  }

  List<String> names() {
    return new ArrayList<>(files.keySet());
  }

  private static Map<String, String> knownHashes(JobConf job) {
    Map<String, String> known = new HashMap<>();
    for (String pair : job.get(Settings.FILES_SHA256, "").split(",")) {
      int at = pair.indexOf('=');
      if (at > 0 && pair.substring(at + 1).matches("[0-9a-f]{64}")) {
        known.put(pair.substring(0, at), pair.substring(at + 1));
      }
    }
    return known;
  }

  private static String sha256(Path path, Progressable progress) throws IOException {
    try (InputStream in = Files.newInputStream(path)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] buffer = new byte[BUFFER];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        digest.update(buffer, 0, n);
        progress.progress();
      }
      StringBuilder text = new StringBuilder();
      for (byte b : digest.digest()) {
        text.append(String.format("%02x", b & 0xFF));
      }
      return text.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}

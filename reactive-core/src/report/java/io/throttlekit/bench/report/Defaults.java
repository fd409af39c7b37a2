package io.throttlekit.bench.report;

/**
 * The numbers in {@code -Dbench.args}. When every suite runs, {@code -Dbench.args} means nothing to all of them and
 * each takes fewer and shorter rounds, so that the whole stays within 25 minutes.
 */
public final class Defaults {
    private Defaults() {}

    /** Whether every suite runs. */
    public static boolean all(String[] args) {
        return args[0].equals("all");
    }

    /** The word at a place of {@code -Dbench.args}, or what stands for it. */
    public static String word(String[] args, int index, String alone, String amongAll) {
        if (all(args)) {
            return amongAll;
        }
        String[] words = System.getProperty("bench.args", "").strip().split("\\s+");
        return index < words.length && !words[index].isEmpty() ? words[index] : alone;
    }

    /** The number at a place of {@code -Dbench.args}, or what stands for it. */
    public static double number(String[] args, int index, double alone, double amongAll) {
        return Double.parseDouble(word(args, index, String.valueOf(alone), String.valueOf(amongAll)));
    }
}

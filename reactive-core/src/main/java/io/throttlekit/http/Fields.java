package io.throttlekit.http;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The few fields of one response, in order: written once, gone through once, never looked up. So names and values
 * lie in one array. Only this package adds to it, before anybody else sees it.
 */
final class Fields extends AbstractMap<String, String> {
    private @Nullable String[] texts;
    private int length;

    Fields(int room) {
        this.texts = new String[2 * room];
    }

    /** The name must not be there yet. */
    void add(String name, String value) {
        if (length == texts.length) {
            texts = Arrays.copyOf(texts, 2 * length + 2);
        }
        texts[length++] = name;
        texts[length++] = value;
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super String> action) {
        for (int i = 0; i < length; i += 2) {
            action.accept(text(i), text(i + 1));
        }
    }

    private String text(int at) {
        String text = texts[at];
        if (text == null) {
            throw new NoSuchElementException();
        }
        return text;
    }

    @Override
    public Set<Map.Entry<String, String>> entrySet() {
        return new AbstractSet<>() {
            @Override
            public int size() {
                return length / 2;
            }

            @Override
            public Iterator<Map.Entry<String, String>> iterator() {
                return new Iterator<>() {
                    private int next;

                    @Override
                    public boolean hasNext() {
                        return next < length;
                    }

                    @Override
                    public Map.Entry<String, String> next() {
                        if (!hasNext()) {
                            throw new NoSuchElementException();
                        }
                        next += 2;
                        return Map.entry(text(next - 2), text(next - 1));
                    }
                };
            }
        };
    }
}

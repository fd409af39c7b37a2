package io.throttlekit.http;

import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.IPAddressStringParameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Finds the address of the client that a request comes from, as the text of a key.
 *
 * <p>By default it is the peer of the socket, and nothing a client writes in its request changes that. Behind
 * proxies it takes an explicit trust: either how many of them there are, or in which networks they live. Both
 * walk the hops from our end to the client's and stop at the first that nobody trusted vouches for.
 *
 * <pre>{@code
 * ClientAddress.builder().trustProxies("10.0.0.0/8").build()
 * }</pre>
 *
 * <p>Ports, brackets and zones are left out, an IPv4 address that is written as IPv6 is that IPv4 address, and
 * an IPv6 address is its /64, since that is what one client has. A hop that is not an address is never a key:
 * the walk ends before it, at the proxy that passed it on. So garbage neither fails nor gets a fresh key. No
 * name is ever looked up.
 *
 * <p>Immutable, and safe for use from any thread.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc7239">RFC 7239, Forwarded</a>
 */
public final class ClientAddress {
    private static final int LONGEST_LITERAL = 100;

    /** Addresses as they are on the wire: no ranges, no prefixes, no octal, no {@code 127.1}. */
    private static final IPAddressStringParameters LITERAL = literal(false);

    private static final IPAddressStringParameters NETWORK = literal(true);

    static {
        // The library reads files when its classes are first used: now, and not on the event loop of a request.
        for (String literal : List.of("192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "no address", "")) {
            IPAddress address = parse(literal);
            if (address != null) {
                address.toPrefixBlock(8).contains(address);
                address.toPrefixBlock(8).toCanonicalString();
            }
        }
    }

    /** The field in which the proxies tell. A proxy writes one of them, and lets through what it finds in the other. */
    public enum Field {
        /** {@code X-Forwarded-For: client, proxy}. */
        X_FORWARDED_FOR,
        /** {@code Forwarded: for=client, for=proxy}, RFC 7239. */
        FORWARDED
    }

    private final Field field;
    private final int hops;
    private final List<IPAddress> trusted;
    private final int ipv6PrefixBits;
    private final @Nullable String unknownPeer;

    private ClientAddress(Builder options) {
        this.field = options.field;
        this.hops = options.hops;
        this.trusted = List.copyOf(options.trusted);
        this.ipv6PrefixBits = options.ipv6PrefixBits;
        this.unknownPeer = options.unknownPeer;
    }

    /**
     * The peer of the socket, whatever the request says.
     *
     * @return the default
     */
    public static ClientAddress ofPeer() {
        return builder().build();
    }

    /**
     * The options of a client's address.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The address of the client.
     *
     * @param request what is known of the request
     * @return such as {@code 9.9.9.9} or {@code 2001:db8::/64}; null when the peer is unknown and such requests
     *     are to have no key
     */
    public @Nullable String of(RequestHead request) {
        String literal = request.peer();
        if (literal != null && hops == 0 && trusted.isEmpty() && isPlainIpv4(literal)) {
            // What sockets tell most often is the key as it stands, and parsing it costs more than the limit does.
            return literal;
        }
        IPAddress peer = parse(literal);
        IPAddress client = hops > 0 ? nthFromTheRight(peer, request) : firstUntrusted(peer, request);
        return client == null ? unknownPeer : text(client);
    }

    /** Four numbers to 255, without a zero in front: the only way to write that address. */
    private static boolean isPlainIpv4(String text) {
        int length = text.length();
        int numbers = 0;
        int at = 0;
        while (at < length) {
            int start = at;
            int number = 0;
            while (at < length && at - start < 3 && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
                number = 10 * number + text.charAt(at++) - '0';
            }
            boolean plain = at > start && number <= 255 && (at == start + 1 || text.charAt(start) != '0');
            numbers++;
            boolean last = at == length;
            if (!plain || last != (numbers == 4) || (!last && text.charAt(at++) != '.')) {
                return false;
            }
        }
        return numbers == 4;
    }

    private @Nullable IPAddress nthFromTheRight(@Nullable IPAddress peer, RequestHead request) {
        List<String> told = told(request);
        // Fewer hops than there are proxies: somebody came around them, and wrote what he liked.
        IPAddress client = told.size() < hops ? null : parse(told.get(told.size() - hops));
        return client == null ? peer : client;
    }

    private @Nullable IPAddress firstUntrusted(@Nullable IPAddress peer, RequestHead request) {
        IPAddress at = peer;
        if (at == null || !trusts(at)) {
            return at;
        }
        List<String> told = told(request);
        for (int i = told.size() - 1; i >= 0; i--) {
            IPAddress before = parse(told.get(i));
            if (before == null) {
                return at;
            }
            at = before;
            if (!trusts(at)) {
                return at;
            }
        }
        return at;
    }

    private boolean trusts(IPAddress address) {
        for (IPAddress network : trusted) {
            if (network.contains(address)) {
                return true;
            }
        }
        return false;
    }

    private List<String> told(RequestHead request) {
        return field == Field.FORWARDED
                ? ForwardedFor.forwarded(request.fields("Forwarded"))
                : ForwardedFor.xForwardedFor(request.fields("X-Forwarded-For"));
    }

    private String text(IPAddress address) {
        return address.isIPv6() && ipv6PrefixBits < IPAddress.getBitCount(IPAddress.IPVersion.IPV6)
                ? address.toPrefixBlock(ipv6PrefixBits).toCanonicalString()
                : address.toCanonicalString();
    }

    private static @Nullable IPAddress parse(@Nullable String text) {
        if (text == null || text.length() > LONGEST_LITERAL) {
            return null;
        }
        String literal = withoutZone(withoutPort(text.strip()));
        IPAddress address = new IPAddressString(literal, LITERAL).getAddress();
        return address == null ? null : unmapped(address);
    }

    private static IPAddress unmapped(IPAddress address) {
        return address.isIPv6() && address.toIPv6().isIPv4Mapped()
                ? address.toIPv6().toIPv4()
                : address;
    }

    private static String withoutPort(String text) {
        if (text.startsWith("[")) {
            int end = text.indexOf(']');
            return end < 0 || !isPort(text, end + 1) ? "" : text.substring(1, end);
        }
        int colon = text.indexOf(':');
        boolean port = colon >= 0 && colon == text.lastIndexOf(':');
        if (!port) {
            return text;
        }
        return isPort(text, colon) ? text.substring(0, colon) : "";
    }

    /** Whether there is nothing from here on, or a port; an obfuscated one, {@code :_a}, is one as well. */
    private static boolean isPort(String text, int from) {
        if (from == text.length()) {
            return true;
        }
        if (text.charAt(from) != ':' || from + 1 == text.length()) {
            return false;
        }
        boolean obfuscated = text.charAt(from + 1) == '_';
        for (int i = from + 1; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!(c >= '0' && c <= '9') && !(obfuscated && isObfuscated(c))) {
                return false;
            }
        }
        return true;
    }

    /** RFC 7239, 6.3, besides digits. */
    private static boolean isObfuscated(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
    }

    private static String withoutZone(String text) {
        int zone = text.indexOf('%');
        if (zone < 0) {
            return text;
        }
        // Only IPv6 has zones. RFC 6874 writes the percent sign of one as %25.
        boolean plain = text.indexOf(':') >= 0 && zone + 1 < text.length();
        for (int i = zone + 1; i < text.length() && plain; i++) {
            char c = text.charAt(i);
            plain = (c >= '0' && c <= '9') || isObfuscated(c) || c == '~';
        }
        return plain ? text.substring(0, zone) : "";
    }

    private static IPAddressStringParameters literal(boolean network) {
        IPAddressStringParameters.Builder parameters = new IPAddressStringParameters.Builder();
        parameters.allowEmpty(false);
        parameters.allowAll(false);
        parameters.allowSingleSegment(false);
        parameters
                .setEmptyAsLoopback(false)
                .allowPrefix(network)
                .allowMask(false)
                .allowPrefixOnly(false)
                .allowWildcardedSeparator(false)
                .allow_inet_aton(false)
                .setRangeOptions(IPAddressStringParameters.RangeParameters.NO_RANGE);
        parameters.getIPv6AddressParametersBuilder().allowZone(false).allowBase85(false);
        return parameters.toParams();
    }

    /** The options of a {@link ClientAddress}. */
    public static final class Builder {
        private Field field = Field.X_FORWARDED_FOR;
        private int hops;
        private final List<IPAddress> trusted = new ArrayList<>();
        private int ipv6PrefixBits = 64;
        private @Nullable String unknownPeer = "unknown";

        private Builder() {}

        /**
         * Trusts the last {@code hops} proxies, whatever their addresses: the client is the hop that the first
         * of them told. Only where nobody can reach the server around the proxies. A request that tells fewer
         * hops counts on its peer.
         *
         * @param hops at least 1
         * @return this
         * @throws IllegalArgumentException if it is less
         */
        public Builder trustHops(int hops) {
            if (hops < 1) {
                throw new IllegalArgumentException("hops must be at least 1, was " + hops);
            }
            this.hops = hops;
            return this;
        }

        /**
         * Trusts the proxies of these networks: the client is the first hop from our end that is in none of
         * them, and the last hop of all when all are. Calls add up.
         *
         * @param networks addresses or CIDR blocks, IPv4 or IPv6
         * @return this
         * @throws IllegalArgumentException if one of them is neither
         */
        public Builder trustProxies(String... networks) {
            for (String network : networks) {
                IPAddress block = new IPAddressString(network, NETWORK).getAddress();
                if (block == null) {
                    throw new IllegalArgumentException("network must be an address or a CIDR block, was " + network);
                }
                trusted.add(block.toPrefixBlock());
            }
            return this;
        }

        /**
         * The field that the trusted proxies write; {@code X-Forwarded-For} by default. They have to replace or
         * extend it in every request.
         *
         * @param field the field
         * @return this
         */
        public Builder field(Field field) {
            this.field = Objects.requireNonNull(field, "field");
            return this;
        }

        /**
         * How many bits of an IPv6 address tell one client from another; 64 by default.
         *
         * @param ipv6PrefixBits 1 to 128; 128 takes each address for a client of its own
         * @return this
         * @throws IllegalArgumentException if it is outside
         */
        public Builder ipv6PrefixBits(int ipv6PrefixBits) {
            if (ipv6PrefixBits < 1 || ipv6PrefixBits > 128) {
                throw new IllegalArgumentException("ipv6PrefixBits must be 1 to 128, was " + ipv6PrefixBits);
            }
            this.ipv6PrefixBits = ipv6PrefixBits;
            return this;
        }

        /**
         * The key of all requests whose peer has no IP address, as on a Unix socket; {@code unknown} by default.
         *
         * @param unknownPeer the key; null to let such requests have none
         * @return this
         */
        public Builder unknownPeer(@Nullable String unknownPeer) {
            this.unknownPeer = unknownPeer;
            return this;
        }

        /**
         * The client's address.
         *
         * @return a new one
         * @throws IllegalStateException if both a number of hops and networks are trusted
         */
        public ClientAddress build() {
            if (hops > 0 && !trusted.isEmpty()) {
                throw new IllegalStateException("trustHops and trustProxies exclude each other: choose one");
            }
            return new ClientAddress(this);
        }
    }
}
